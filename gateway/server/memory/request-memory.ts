/**
 * What one request keeps in memory: a share of each kind, opened with its first piece. It belongs to the client's network
 * until the caller is known, then to the workspace.
 */
import type { ServiceError } from '../../../contracts/errors.js';
import {
  memoryExhausted,
  type MemoryKind,
  type MemoryLedger,
  type MemoryShare,
} from '../../../contracts/ports/accounts/memory.js';

export interface RequestOwner {
  /** The client's network, while the caller is unknown. */
  readonly network: () => string;
  evict(error: ServiceError): void;
}

export class RequestMemory {
  /** By kind; most requests keep nothing. */
  #shares: Map<MemoryKind, MovingShare> | undefined;
  #workspaceId: string | undefined;

  constructor(
    private readonly ledger: MemoryLedger,
    private readonly owner: RequestOwner,
  ) {}

  share(kind: MemoryKind): MemoryShare {
    const known = this.#shares?.get(kind);
    if (known) return known;
    const made = new MovingShare(() => this.open(kind));
    this.#shares = (this.#shares ?? new Map<MemoryKind, MovingShare>()).set(kind, made);
    return made;
  }

  /** A further share, which its user closes. */
  open(kind: MemoryKind): MemoryShare {
    return this.ledger.openShare({ kind, holder: this.holder, evict: (error) => this.owner.evict(error) });
  }

  /** Charges everything to the workspace. Errors: `memory_exhausted`. */
  belongsTo(workspaceId: string): void {
    if (this.#workspaceId === workspaceId) return;
    this.#workspaceId = workspaceId;
    for (const share of this.#kept) if (!share.move()) throw memoryExhausted();
  }

  /** Gives everything back, as after a refusal; what still arrives is charged anew. */
  release(): void {
    for (const share of this.#kept) share.release();
  }

  close(): void {
    for (const share of this.#kept) share.close();
  }

  get #kept(): Iterable<MovingShare> {
    return this.#shares?.values() ?? [];
  }

  /** Whom it is charged to. */
  get holder(): string {
    return this.#workspaceId ?? `address:${this.owner.network()}`;
  }
}

/** A share that may go on with another holder. */
class MovingShare implements MemoryShare {
  #share: MemoryShare | undefined;
  #closed = false;

  constructor(private readonly open: () => MemoryShare) {}

  get bytes(): number {
    return this.#share?.bytes ?? 0;
  }

  charge(bytes: number): boolean {
    return !this.#closed && (this.#share ??= this.open()).charge(bytes);
  }

  /** Gives back one piece, or by default all of them. */
  release(bytes?: number): void {
    if (bytes !== undefined) return this.#share?.release(bytes);
    this.#share?.close();
    this.#share = undefined;
  }

  close(): void {
    this.release();
    this.#closed = true;
  }

  /** Charges the same bytes to whoever is the holder now. False if they do not fit. */
  move(): boolean {
    const { bytes } = this;
    this.release();
    return bytes === 0 || this.charge(bytes);
  }
}
