/**
 * The one ledger of a process's waiting memory, within a budget (contracts/ports/accounts/memory.ts). When a piece does not
 * fit, what is spare goes; then the largest holder pays: its own newest piece is refused, or, if somebody else asks, its largest share is evicted. So
 * whoever fills the memory harms only themselves.
 *
 * Invariants: `bytes` is the sum of all shares and never exceeds the budget; a holder's total is the sum of its shares.
 */
import {
  memoryExhausted,
  pieceOf,
  type MemoryKind,
  type MemoryLedger,
  type MemoryOwner,
  type MemoryShare,
} from '../../../contracts/ports/accounts/memory.js';
import { LargestFirst, type Sized } from './largest-first.js';

interface Holder extends Sized {
  bytes: number;
  readonly shares: LargestFirst<Share>;
}

export class Ledger implements MemoryLedger {
  readonly #holders = new Map<string, Holder>();
  readonly #bySize = new LargestFirst<Holder>();
  readonly #kinds = new Map<MemoryKind, number>();
  readonly #refused = new Map<MemoryKind, number>();
  readonly #spare = new Set<Share>();
  #bytes = 0;

  constructor(readonly budgetBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes charged for one kind of piece. */
  bytesOf(kind: MemoryKind): number {
    return this.#kinds.get(kind) ?? 0;
  }

  /** How many pieces of that kind were refused, and shares evicted, since the start. */
  refusedOf(kind: MemoryKind): number {
    return this.#refused.get(kind) ?? 0;
  }

  openShare(owner: MemoryOwner): MemoryShare {
    const holder = this.#holderOf(owner.holder);
    const share = new Share(owner, {
      charge: (bytes) => this.#charge(share, holder, bytes),
      release: (bytes) => this.#count(share, holder, -bytes),
      closed: () => this.#closed(share, holder),
    });
    holder.shares.add(share);
    if (owner.isSpare) this.#spare.add(share);
    return share;
  }

  #holderOf(name: string): Holder {
    const known = this.#holders.get(name);
    if (known) return known;
    const holder = { bytes: 0, place: 0, shares: new LargestFirst<Share>() };
    this.#holders.set(name, holder);
    this.#bySize.add(holder);
    return holder;
  }

  #charge(share: Share, holder: Holder, bytes: number): boolean {
    this.#spareGoes(share, bytes);
    while (this.#bytes + bytes > this.budgetBytes) {
      if (share.owner.isSpare) return false;
      const { largest } = this.#bySize;
      const evicted = largest && largest.bytes > holder.bytes + bytes ? largest.shares.largest : undefined;
      this.#refuse((evicted ?? share).owner.kind);
      evicted?.evict();
      if (!evicted || share.closed) return false;
    }
    this.#count(share, holder, bytes);
    return true;
  }

  /** Evicts what is spare, for a piece that does not fit otherwise. */
  #spareGoes(share: Share, bytes: number): void {
    for (const spare of this.#spare) {
      if (this.#bytes + bytes <= this.budgetBytes) return;
      if (spare !== share) spare.evict();
    }
  }

  #refuse(kind: MemoryKind): void {
    this.#refused.set(kind, this.refusedOf(kind) + 1);
  }

  #count(share: Share, holder: Holder, bytes: number): void {
    const { kind } = share.owner;
    this.#bytes += bytes;
    this.#kinds.set(kind, this.bytesOf(kind) + bytes);
    share.bytes += bytes;
    holder.shares.changed(share);
    holder.bytes += bytes;
    this.#bySize.changed(holder);
  }

  #closed(share: Share, holder: Holder): void {
    this.#spare.delete(share);
    holder.shares.remove(share);
    if (holder.shares.size > 0) return;
    this.#holders.delete(share.owner.holder);
    this.#bySize.remove(holder);
  }
}

interface Book {
  /** Adds to the share's bytes, or refuses. */
  charge(bytes: number): boolean;
  release(bytes: number): void;
  closed(): void;
}

class Share implements MemoryShare, Sized {
  bytes = 0;
  place = 0;
  closed = false;

  constructor(
    readonly owner: MemoryOwner,
    private readonly book: Book,
  ) {}

  charge(bytes: number): boolean {
    return !this.closed && this.book.charge(pieceOf(bytes));
  }

  release(bytes: number): void {
    if (!this.closed) this.book.release(Math.min(pieceOf(bytes), this.bytes));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.book.release(this.bytes);
    this.book.closed();
  }

  /** Gives its memory back before its work hears of it. */
  evict(): void {
    this.close();
    this.owner.evict(memoryExhausted());
  }
}
