/**
 * Where large frames land. The binding lends a frame's bytes for one callback, and to copy 32 MiB there into memory that the process
 * has not used before takes 36 ms, since the system hands it out page by page; into memory that it has used 6 ms. So one buffer is kept,
 * and a frame moves from there into memory of its own in turns of the event loop.
 *
 * Invariants: one frame at a time lies in the kept buffer, others are copied into memory of their own at once; the buffer is charged with
 * as much of it as was ever used, and goes when it was not used for KEPT_MS, or when anybody needs its memory.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { MemoryLedger, MemoryShare } from '../../../contracts/ports/accounts/memory.js';

/** Smaller frames are copied at once. */
const LANDED_BYTES = 2 * 1024 * 1024;
const KEPT_MS = 60_000;
/** Bytes moved in one turn: new memory, at a millisecond for each MiB. */
const TURN_BYTES = 2 * 1024 * 1024;

/** A frame whose bytes are on their way into memory of its own. */
export class LandedFrame {
  constructor(
    readonly length: number,
    readonly isText: boolean,
    readonly bytes: Promise<Buffer>,
  ) {}
}

export class Landing {
  #kept: Buffer | undefined;
  #isTaken = false;
  #share: MemoryShare | undefined;
  #cancel: () => void = () => undefined;

  constructor(
    private readonly memory: MemoryLedger,
    private readonly clock: Clock,
  ) {}

  /** A copy of a large frame; undefined if there is no place for it here. */
  land(bytes: ArrayBuffer, isText: boolean): LandedFrame | undefined {
    const size = bytes.byteLength;
    const kept = size < LANDED_BYTES ? undefined : this.#take(size);
    if (!kept) return undefined;
    kept.set(new Uint8Array(bytes));
    return new LandedFrame(size, isText, this.#move(kept));
  }

  /** So much of the kept buffer, unless it is taken, or there is no memory for it. */
  #take(size: number): Buffer | undefined {
    if (this.#isTaken || size > LIMITS.socket.frameBytes || !this.#charge(size)) return undefined;
    this.#cancel();
    this.#isTaken = true;
    this.#kept ??= Buffer.allocUnsafeSlow(LIMITS.socket.frameBytes);
    return this.#kept.subarray(0, size);
  }

  #charge(size: number): boolean {
    this.#share ??= this.memory.open({
      ...{ kind: 'frame', holder: 'landing', isSpare: true },
      evict: () => this.#drop(),
    });
    const more = size - this.#share.bytes;
    return more <= 0 || this.#share.charge(more);
  }

  async #move(from: Buffer): Promise<Buffer> {
    const own = Buffer.allocUnsafeSlow(from.length);
    for (let at = 0; at < from.length; at += TURN_BYTES) {
      await nextTurn();
      own.set(from.subarray(at, at + TURN_BYTES), at);
    }
    this.#isTaken = false;
    this.#cancel = this.clock.after(KEPT_MS, () => this.#drop());
    return own;
  }

  /** A frame that moves just now keeps what it needs of it. */
  #drop(): void {
    this.#cancel();
    this.#kept = undefined;
    this.#share?.close();
    this.#share = undefined;
  }
}
