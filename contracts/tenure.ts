/**
 * How long a node may act for the calls that it owns: until so long after it *asked* for its last renewal, which is
 * earlier than any other node can find its row stale. It counts by a clock that goes on while the process stands still, so
 * that a process that was stopped knows better as soon as it wakes.
 */
import type { Clock } from './clock.js';
import type { Held, TenureState } from './ports/nodes.js';

export class Tenure implements Held {
  readonly #listeners = new Set<(state: TenureState) => void>();
  #until = -Infinity;
  #held = false;
  #cancel = (): void => undefined;

  constructor(private readonly clock: Pick<Clock, 'monotonic' | 'after'>) {}

  get holds(): boolean {
    this.#look();
    return this.#held;
  }

  onChange(listener: (state: TenureState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** It was renewed for `ms` by a request that was sent at `sentAt` (monotonic). */
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

  /** Somebody has declared this node dead. */
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

  #tell(state: TenureState): void {
    for (const listener of [...this.#listeners]) listener(state);
  }
}
