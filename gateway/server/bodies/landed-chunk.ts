/**
 * Parts of bodies that the stack reads faster than the event loop turns: it may read a whole upload in one turn. What comes beyond
 * AT_ONCE_BYTES in a turn is copied into kept memory (../memory/kept-memory.ts), and into memory of its own once its reader takes it.
 */
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { MemoryLedger } from '../../../contracts/ports/accounts/memory.js';
import { KeptMemory, type KeptPart } from '../memory/kept-memory.js';

/** Bytes of one turn that are copied into memory of their own at once. */
const AT_ONCE_BYTES = 1024 * 1024;
/** A stack that reads less has no more to read in this turn. */
const LANDED_BYTES = 64 * 1024;

/** Large bodies come together: what one has landed in is kept for the next, and not for long. */
const KEPT_MS = 5000;
const MOST_OF_BUDGET = 1 / 8;

/** A part of a body in kept memory: `take` or `drop` is called once. */
export class LandedChunk {
  constructor(private readonly part: KeptPart) {}

  get byteLength(): number {
    return this.part.bytes.length;
  }

  /** The bytes, in memory of their own. */
  take(): Uint8Array {
    const own = Buffer.allocUnsafeSlow(this.byteLength);
    own.set(this.part.bytes);
    this.part.leave();
    return own;
  }

  drop(): void {
    this.part.leave();
  }
}

export class ChunkLanding {
  readonly #kept: KeptMemory;
  /** Bytes of large chunks in this turn. */
  #turnBytes = 0;

  constructor(memory: MemoryLedger, clock: Clock) {
    this.#kept = new KeptMemory(memory, clock, {
      kind: 'body',
      mostBytes: Math.min(LIMITS.body.text, Math.floor(memory.budgetBytes * MOST_OF_BUDGET)),
      keptMs: KEPT_MS,
    });
  }

  /** A copy of bytes that are lent for this call. */
  land(bytes: ArrayBuffer): Uint8Array | LandedChunk {
    const part = this.#isMore(bytes.byteLength) ? this.#kept.take(bytes.byteLength) : undefined;
    if (!part) return new Uint8Array(bytes.slice(0));
    part.bytes.set(new Uint8Array(bytes));
    return new LandedChunk(part);
  }

  /** Whether the bytes are more than may be copied into new memory in this turn. */
  #isMore(byteLength: number): boolean {
    if (byteLength < LANDED_BYTES) return false;
    if (this.#turnBytes === 0) setImmediate(() => (this.#turnBytes = 0));
    this.#turnBytes += byteLength;
    return this.#turnBytes > AT_ONCE_BYTES;
  }
}
