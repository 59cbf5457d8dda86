/**
 * Where large frames land. The binding lends a frame's bytes for one callback: they are copied into kept memory (../memory/kept-memory.ts), and
 * from there into memory of their own in turns of the event loop. One frame at a time lies there, others are copied into memory of
 * their own at once.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { MemoryLedger } from '../../../contracts/ports/accounts/memory.js';
import { KeptMemory, type KeptPart } from '../memory/kept-memory.js';

/** Smaller frames are copied at once. */
const LANDED_BYTES = 2 * 1024 * 1024;
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
  readonly #kept: KeptMemory;
  #isTaken = false;

  constructor(memory: MemoryLedger, clock: Clock) {
    this.#kept = new KeptMemory(memory, clock, {
      kind: 'frame',
      mostBytes: LIMITS.socket.frameBytes,
      keptMs: 60_000,
    });
  }

  /** A copy of a large frame; undefined if there is no place for it here. */
  land(bytes: ArrayBuffer, isText: boolean): LandedFrame | undefined {
    const size = bytes.byteLength;
    const part = size < LANDED_BYTES || this.#isTaken ? undefined : this.#kept.take(size);
    if (!part) return undefined;
    this.#isTaken = true;
    part.bytes.set(new Uint8Array(bytes));
    return new LandedFrame(size, isText, this.#move(part));
  }

  async #move({ bytes: from, leave }: KeptPart): Promise<Buffer> {
    const own = Buffer.allocUnsafeSlow(from.length);
    for (let at = 0; at < from.length; at += TURN_BYTES) {
      await nextTurn();
      own.set(from.subarray(at, at + TURN_BYTES), at);
    }
    this.#isTaken = false;
    leave();
    return own;
  }
}
