/** Looking for work that may be waiting: when it is announced, and now and then, as announcements may be lost. */
import type { Clock } from '../clock.js';

export interface PollerParts {
  readonly clock: Clock;
  /** Time between two looks. */
  readonly ms: number;
  poll(): Promise<void>;
  failed(error: unknown): void;
}

export class Poller {
  #looking: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #cancel = (): void => undefined;

  constructor(private readonly parts: PollerParts) {}

  /** Looks, one look at a time; a call during a look causes one more after it. */
  poll(): void {
    if (this.#stopped) return;
    this.#again = this.#looking !== undefined;
    if (this.#looking) return;
    this.#cancel();
    const { clock, ms, poll: look, failed } = this.parts;
    this.#looking = look()
      .catch(failed)
      .finally(() => {
        this.#looking = undefined;
        if (this.#stopped) return;
        if (this.#again) this.poll();
        else this.#cancel = clock.after(ms, () => this.poll());
      });
  }

  /** Resolves when no look is going on. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }
}
