/**
 * How a server takes leave of the clients that keep their connections open: for a while it still answers, and each answer ends its
 * connection, so that the next request goes elsewhere and nobody is refused.
 */
import type { Clock } from '../../contracts/clock.js';
import { Deadline } from '../../contracts/time/deadline.js';
import type { Adapter } from './adapters/adapter.js';

export interface GoodbyeParts {
  readonly clock: Clock;
  /** Whether a load balancer asks for our health, and so notices that we leave. */
  isWatched(): boolean;
  /** Whether a reply is under way whose head has promised that the connection stays open. */
  isPromised(): boolean;
  /** Resolves when no such reply is under way, or once `over` has resolved. */
  unpromised(over: Promise<unknown>): Promise<unknown>;
}

export interface GoodbyeTimes {
  /** How long it lasts at least; 0: there is none. */
  readonly announceMs: number;
  /** Ends it at once. */
  readonly over: Promise<unknown>;
  readonly connections: Pick<Adapter, 'idleMs' | 'endIdle'>;
}

export class Goodbye {
  /** When a reply last left its connection open. */
  #keptAt = -Infinity;

  constructor(private readonly parts: GoodbyeParts) {}

  /** A reply has ended, and its connection stays open. */
  kept(): void {
    this.#keptAt = this.parts.clock.monotonic();
  }

  /**
   * Lasts for `announceMs` if a balancer watches us or a connection may be open, and then until none can be open that was not told
   * to end: idle connections are ended if the stack can do that, and otherwise end by themselves (`idleMs`).
   */
  async say({ announceMs, over, connections }: GoodbyeTimes): Promise<void> {
    const { isWatched, isPromised, unpromised } = this.parts;
    if (announceMs === 0 || !(isWatched() || isPromised() || this.#msLeft(connections) > 0)) return;
    await this.#wait(announceMs, over);
    await unpromised(over);
    // A reply that has just ended: its connection is idle for the stack a turn of the loop later.
    await new Promise((resolve) => void setImmediate(resolve));
    if (!connections.endIdle()) await this.#wait(this.#msLeft(connections), over);
  }

  /** How long a connection that was not told to end may still be open, in milliseconds. */
  #msLeft({ idleMs }: GoodbyeTimes['connections']): number {
    return this.#keptAt + idleMs - this.parts.clock.monotonic();
  }

  async #wait(ms: number, over: Promise<unknown>): Promise<void> {
    if (ms <= 0) return;
    const deadline = new Deadline(this.parts.clock, ms);
    await Promise.race([deadline.passed, over]);
    deadline.drop();
  }
}
