/**
 * The one ledger of a process's waiting memory, within a budget (contracts/ports/accounts/memory.ts). When a piece does not
 * fit, the largest holder pays: its own newest piece is refused, or, if somebody else asks, its largest share is evicted. So
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

interface Holder {
  bytes: number;
  readonly shares: Set<Share>;
}

export class Ledger implements MemoryLedger {
  readonly #holders = new Map<string, Holder>();
  readonly #kinds = new Map<MemoryKind, number>();
  #bytes = 0;

  constructor(readonly budgetBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes charged for one kind of piece. */
  bytesOf(kind: MemoryKind): number {
    return this.#kinds.get(kind) ?? 0;
  }

  open(owner: MemoryOwner): MemoryShare {
    const holder = this.#holders.get(owner.holder) ?? { bytes: 0, shares: new Set() };
    this.#holders.set(owner.holder, holder);
    const share = new Share(owner, {
      charge: (bytes) => this.#charge(share, holder, bytes),
      release: (bytes) => this.#count(holder, owner.kind, -bytes),
      closed: () => this.#closed(share, holder),
    });
    holder.shares.add(share);
    return share;
  }

  #charge(share: Share, holder: Holder, bytes: number): boolean {
    while (this.#bytes + bytes > this.budgetBytes) {
      const largest = this.#largest();
      if (!largest || largest.bytes <= holder.bytes + bytes) return false;
      largestOf(largest)?.evict();
      if (share.closed) return false;
    }
    this.#count(holder, share.owner.kind, bytes);
    return true;
  }

  #largest(): Holder | undefined {
    let largest: Holder | undefined;
    for (const holder of this.#holders.values()) if (holder.bytes > (largest?.bytes ?? 0)) largest = holder;
    return largest;
  }

  #count(holder: Holder, kind: MemoryKind, bytes: number): void {
    this.#bytes += bytes;
    holder.bytes += bytes;
    this.#kinds.set(kind, this.bytesOf(kind) + bytes);
  }

  #closed(share: Share, holder: Holder): void {
    holder.shares.delete(share);
    if (holder.shares.size === 0 && this.#holders.get(share.owner.holder) === holder)
      this.#holders.delete(share.owner.holder);
  }
}

function largestOf({ shares }: Holder): Share | undefined {
  let largest: Share | undefined;
  for (const share of shares) if (share.bytes > (largest?.bytes ?? 0)) largest = share;
  return largest;
}

interface Book {
  charge(bytes: number): boolean;
  release(bytes: number): void;
  closed(): void;
}

class Share implements MemoryShare {
  bytes = 0;
  closed = false;

  constructor(
    readonly owner: MemoryOwner,
    private readonly book: Book,
  ) {}

  charge(bytes: number): boolean {
    const piece = pieceOf(bytes);
    if (this.closed || !this.book.charge(piece)) return false;
    this.bytes += piece;
    return true;
  }

  release(bytes: number): void {
    const piece = Math.min(pieceOf(bytes), this.bytes);
    this.bytes -= piece;
    this.book.release(piece);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.book.release(this.bytes);
    this.bytes = 0;
    this.book.closed();
  }

  /** Gives its memory back before its work hears of it. */
  evict(): void {
    this.close();
    this.owner.evict(memoryExhausted());
  }
}
