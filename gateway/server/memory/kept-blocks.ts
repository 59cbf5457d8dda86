/**
 * Memory for bytes that come and go: blocks that are handed out, come back and are handed out again. V8 frees a buffer when it collects
 * garbage, which may be when hundreds of mebibytes of it are there; and the system hands new memory out page by page, a millisecond for
 * each MiB.
 *
 * Invariants: whoever has a part is charged for it, and the blocks for the rest of what they take, as spare; what has not been used for
 * `keptMs` goes, and all that is free when anybody needs it.
 */
import type { Clock } from '../../../contracts/clock.js';
import {
  MeteredMemory,
  type MemoryKind,
  type MemoryLedger,
  type MemoryShare,
} from '../../../contracts/ports/accounts/memory.js';
import { collectAll } from '../../../processes/garbage.js';
import type { KeptPart } from './kept-memory.js';

const LEAST_BYTES = 4096;
/** Bytes of blocks that are let go of at once and worth a collection: until then they are not free. */
const WORTH = 16 * 1024 * 1024;

export interface BlockOptions {
  readonly kind: MemoryKind;
  /** How long a block is kept unused. */
  readonly keptMs: number;
}

/** The size of the block for so many bytes: a power of two. */
const blockFor = (bytes: number): number => {
  let size = LEAST_BYTES;
  while (size < bytes) size *= 2;
  return size;
};

export class KeptBlocks {
  readonly #free = new Map<number, Buffer[]>();
  #freeBytes = 0;
  /** The least that was free since the last look: nobody needs that. */
  #unused = 0;
  /** Bytes of all blocks, and those that others are charged for. */
  #bytes = 0;
  #charged = 0;
  #account: { readonly share: MemoryShare; readonly metered: MeteredMemory } | undefined;
  #isWatched = false;

  constructor(
    private readonly memory: MemoryLedger,
    private readonly clock: Pick<Clock, 'after'>,
    private readonly options: BlockOptions,
  ) {}

  /** A part of so many bytes, for which its receiver is charged. */
  take(size: number): KeptPart {
    const block = this.#block(blockFor(size));
    this.#charged += size;
    this.#charge();
    this.#watch();
    return { bytes: block.subarray(0, size), leave: () => this.#leave(block, size) };
  }

  #block(size: number): Buffer {
    const known = this.#free.get(size)?.pop();
    if (!known) {
      this.#bytes += size;
      return Buffer.allocUnsafeSlow(size);
    }
    this.#freeBytes -= size;
    this.#unused = Math.min(this.#unused, this.#freeBytes);
    return known;
  }

  #leave(block: Buffer, size: number): void {
    this.#charged -= size;
    const free = this.#free.get(block.length);
    if (free) free.push(block);
    else this.#free.set(block.length, [block]);
    this.#freeBytes += block.length;
    this.#charge();
  }

  #charge(): void {
    this.#account ??= this.#open();
    if (!this.#account.metered.set(this.#bytes - this.#charged)) this.#drop();
  }

  #open() {
    const owner = { kind: this.options.kind, holder: 'landing', isSpare: true };
    const share = this.memory.openShare({ ...owner, evict: () => this.#drop() });
    return { share, metered: new MeteredMemory(share) };
  }

  /** Lets go of all that is free. */
  #drop(): void {
    this.#account?.share.close();
    this.#account = undefined;
    this.#letGo(this.#freeBytes);
  }

  /** Lets go of as many bytes of free blocks, the largest first. */
  #letGo(bytes: number): void {
    let left = bytes;
    for (const [size, free] of [...this.#free].sort(([one], [other]) => other - one))
      for (; left >= size && free.length > 0; left -= size) free.pop();
    const gone = bytes - left;
    this.#bytes -= gone;
    this.#freeBytes -= gone;
    this.#unused = Math.min(this.#unused, this.#freeBytes);
    // Not in the midst of whatever needs the memory.
    if (gone >= WORTH) setImmediate(collectAll);
  }

  /** Looks after what nobody uses, as long as there is any. */
  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#unused = this.#freeBytes;
    this.clock.after(this.options.keptMs, () => {
      this.#isWatched = false;
      this.#letGo(this.#unused);
      this.#charge();
      if (this.#bytes > 0) this.#watch();
    });
  }
}
