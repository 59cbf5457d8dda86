/**
 * Memory of what waits in a process: for its client to send or to read, for a place, for an engine. Each piece of work has a
 * share of it, charged to its workspace. `MEMORY_BUDGET_MB` bounds their sum (docs/contract/limits.md).
 *
 * Invariants: what a share was charged is given back once, at the latest by `close`; an evicted share is closed already.
 */
import { ServiceError } from '../../errors.js';

/** What waits: parts of the gauge `gateway_memory_charged_bytes`. */
export const MEMORY_KINDS = ['body', 'audio', 'text', 'answer', 'plan', 'frame'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** Bytes that a piece counts at least: an object, its buffer and its place in a list, however short its content. */
export const PIECE_BYTES = 256;

/** Bytes that a piece of that size counts. */
export const pieceOf = (bytes: number): number => Math.max(bytes, PIECE_BYTES);

export interface MemoryOwner {
  readonly kind: MemoryKind;
  /**
   * The workspace; `session:` and its id for signalling, which knows no more; for a client that has not shown who it is,
   * `address:` and its address; `landing` for the buffer in which large frames land.
   */
  readonly holder: string;
  /** Whether it is kept only as long as nobody needs its memory: then it goes before anybody pays, and makes nobody pay itself. */
  readonly isSpare?: boolean;
  /** Called once if the budget is used up and this is the largest share of the largest holder: its work must end at once. */
  evict(error: ServiceError): void;
}

export interface MemoryShare {
  /** Bytes charged now. */
  readonly bytes: number;
  /**
   * Charges one piece of that size, with PIECE_BYTES at least. False if it does not fit and its holder is the largest
   * one: nothing is charged, and the piece must not be kept.
   */
  charge(bytes: number): boolean;
  /** Gives back one piece of that size. */
  release(bytes: number): void;
  /** Gives everything back. Idempotent; later charges are refused. */
  close(): void;
}

export interface MemoryLedger {
  /** Bytes of all shares at most. */
  readonly budgetBytes: number;
  openShare(owner: MemoryOwner): MemoryShare;
}

/** Refuses new work, or ends live work, for want of memory. */
export const memoryExhausted = (): ServiceError => new ServiceError('memory_exhausted', { retryAfter: 1 });

/** As `charge`. Errors: `memory_exhausted`. */
export function mustCharge(share: MemoryShare, bytes: number): void {
  if (!share.charge(bytes)) throw memoryExhausted();
}

/** Bytes of an amount that a share is not charged for: less than what carries it. */
const STEP_BYTES = 4096;

/** An amount that changes often, charged in steps of 4 KiB, so that most changes cost nothing. */
export class MeteredMemory {
  #charged = 0;

  constructor(private readonly share: MemoryShare) {}

  /** Sets the amount. False if it does not fit: then as much is charged as before. */
  set(bytes: number): boolean {
    const due = bytes - (bytes % STEP_BYTES);
    if (due === this.#charged) return true;
    if (due < this.#charged) this.share.release(this.#charged - due);
    else if (!this.share.charge(due - this.#charged)) return false;
    this.#charged = due;
    return true;
  }
}

/** A share in which everything fits. */
export const UNBOUNDED_SHARE: MemoryShare = {
  bytes: 0,
  charge: () => true,
  release: () => undefined,
  close: () => undefined,
};

/** For tests, and for parts that are used without a gateway: everything fits. */
export const UNBOUNDED_MEMORY: MemoryLedger = {
  budgetBytes: Infinity,
  openShare: () => UNBOUNDED_SHARE,
};
