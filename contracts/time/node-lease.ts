/**
 * How long a node may act for the calls that it owns: counted from when it *requested* its last renewal, so it ends
 * before any other node can find its row stale. Its clock runs on while the process is suspended, so
 * that a suspended process knows the truth as soon as it wakes.
 */
import type { Clock } from '../clock.js';
import type { HeldLease, NodeLeaseState } from '../ports/calls/nodes.js';

export class NodeLease implements HeldLease {
  readonly #listeners = new Set<(state: NodeLeaseState) => void>();
  #until = -Infinity;
  #held = false;
  #cancel = (): void => undefined;

  constructor(private readonly clock: Pick<Clock, 'monotonic' | 'after'>) {}

  get holds(): boolean {
    this.#look();
    return this.#held;
  }

  onChange(listener: (state: NodeLeaseState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Renews it for `ms` from `sentAt` (monotonic), when the request was sent. */
  renew(sentAt: number, ms: number): void {
    this.#look();
    this.#until = sentAt + ms;
    this.#cancel();
    const left = this.#until - this.clock.monotonic();
    if (left <= 0) return;
    this.#cancel = this.clock.after(left, () => this.#look());
    if (this.#held) return;
    this.#held = true;
    this.#tell('held');
  }

  /** Ends it: another node has declared this one dead. */
  lose(): void {
    this.stop();
    this.#held = false;
    this.#tell('lost');
  }

  stop(): void {
    this.#cancel();
    this.#until = -Infinity;
  }

  #look(): void {
    if (!this.#held || this.clock.monotonic() < this.#until) return;
    this.#held = false;
    this.#tell('silent');
  }

  #tell(state: NodeLeaseState): void {
    for (const listener of [...this.#listeners]) listener(state);
  }
}
