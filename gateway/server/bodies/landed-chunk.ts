/**
 * Parts of bodies as the stack lends them: it may read a whole upload in one turn of the event loop. All but the smallest are copied into
 * blocks that are used again and again (../memory/kept-blocks.ts), so that an upload leaves no garbage.
 */
import type { Clock } from '../../../contracts/clock.js';
import type { MemoryLedger } from '../../../contracts/ports/accounts/memory.js';
import { KeptBlocks } from '../memory/kept-blocks.js';
import type { KeptPart } from '../memory/kept-memory.js';

/** Smaller parts are in memory of their own. */
const LANDED_BYTES = 4 * 1024;

/** Large bodies come together: what one has landed in is kept for the next, and not for long. */
const KEPT_MS = 1000;

/** A part of a body in a kept block, until `leave` is called, once. */
export class LandedChunk {
  constructor(private readonly part: KeptPart) {}

  get byteLength(): number {
    return this.part.bytes.length;
  }

  get bytes(): Uint8Array {
    return this.part.bytes;
  }

  leave(): void {
    this.part.leave();
  }
}

export class ChunkLanding {
  readonly #kept: KeptBlocks;

  constructor(memory: MemoryLedger, clock: Clock) {
    this.#kept = new KeptBlocks(memory, clock, { kind: 'body', keptMs: KEPT_MS });
  }

  /** A copy of bytes that are lent for this call. */
  land(bytes: ArrayBuffer): Uint8Array | LandedChunk {
    if (bytes.byteLength < LANDED_BYTES) return new Uint8Array(bytes.slice(0));
    const part = this.#kept.take(bytes.byteLength);
    part.bytes.set(new Uint8Array(bytes));
    return new LandedChunk(part);
  }
}
