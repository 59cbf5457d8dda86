/**
 * The memory of what waits for one socket, charged to its holder: a share for each kind, opened with its first charge, since
 * most sockets never have anything that waits.
 *
 * Invariant: after `close` nothing is charged, and nothing can be.
 */
import type {
  MemoryKind,
  MemoryLedger,
  MemoryOwner,
  MemoryShare,
} from '../../../contracts/ports/accounts/memory.js';

type Open = () => MemoryShare | undefined;

/** A share that is opened with its first charge. */
class LazyShare implements MemoryShare {
  #share: MemoryShare | undefined;

  constructor(private readonly open: Open) {}

  get bytes(): number {
    return this.#share?.bytes ?? 0;
  }

  charge(bytes: number): boolean {
    this.#share ??= this.open();
    return this.#share?.charge(bytes) ?? false;
  }

  release(bytes: number): void {
    this.#share?.release(bytes);
  }

  close(): void {
    this.#share?.close();
  }

  /** Its share was evicted: the next charge opens another one. */
  renew(): void {
    this.#share = undefined;
  }
}

export class SocketMemory {
  #open: MemoryShare[] = [];
  #closed = false;

  /** `exhausted`: called if one of the shares must go. */
  constructor(
    private readonly ledger: MemoryLedger,
    /** The holder at the time of a first charge. */
    private readonly holder: () => string,
    private readonly exhausted: MemoryOwner['evict'],
  ) {}

  /** `evict`: what to do if this share must go, instead of `exhausted`; the share can be charged again then. */
  share(kind: MemoryKind, evict = this.exhausted): MemoryShare {
    const lazy = new LazyShare(() =>
      this.#opened(kind, (error) => {
        lazy.renew();
        evict(error);
      }),
    );
    return lazy;
  }

  close(): void {
    this.#closed = true;
    for (const share of this.#open.splice(0)) share.close();
  }

  #opened(kind: MemoryKind, evict: MemoryOwner['evict']): MemoryShare | undefined {
    if (this.#closed) return undefined;
    const share = this.ledger.openShare({
      kind,
      holder: this.holder(),
      evict: (error) => {
        this.#open = this.#open.filter((other) => other !== share);
        evict(error);
      },
    });
    this.#open.push(share);
    return share;
  }
}
