/**
 * What all requests of one server share, and whether it still takes any: shedding (503 `overloaded`) and
 * draining (503 `draining`), from which the server's own routes are exempt.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import type { Log } from '../../contracts/log.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Arrival } from './adapter.js';
import type { Origins } from './client-address.js';
import { Exchange } from './exchange.js';
import type { Health } from './health.js';
import type { Load } from './load.js';
import type { Metrics, RequestReport } from './metrics.js';
import type { Dialect } from './port.js';
import type { Router } from './router.js';
import { SocketHost } from './socket-host.js';

export interface EdgeParts {
  readonly router: Router;
  readonly origins: Origins;
  /** The dialect of the server's own routes. */
  readonly system: Dialect;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly load: Load;
  readonly metrics: Metrics;
  readonly health: Health;
}

/** Seconds after which a client may find another process in our place. */
const DRAIN_RETRY_SECONDS = 5;
/** What is left of a drain for clients to answer their close frames. */
const FORCE_MS = 2000;

export class Edge {
  readonly router: Router;
  readonly origins: Origins;
  readonly system: Dialect;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly sockets: SocketHost;
  draining = false;
  readonly #load: Load;
  readonly #health: Health;
  readonly #exchanges = new Set<Exchange>();
  #idle: (() => void) | undefined;

  constructor(parts: EdgeParts) {
    this.router = parts.router;
    this.origins = parts.origins;
    this.system = parts.system;
    this.ids = parts.ids;
    this.clock = parts.clock;
    this.log = parts.log;
    this.metrics = parts.metrics;
    this.#load = parts.load;
    this.#health = parts.health;
    this.sockets = new SocketHost(parts, () => this.#settle());
    parts.metrics.gauge('requests_in_flight', 'Requests under way', () => this.#exchanges.size);
    parts.metrics.gauge('loop_delay_ms', 'Mean delay of the event loop', () => this.#load.loopDelayMs);
  }

  arrived(arrival: Arrival): void {
    const exchange = new Exchange(this, arrival);
    this.#exchanges.add(exchange);
    this.#load.inFlight += 1;
    void exchange.run();
  }

  /** Called by the exchange as it ends. */
  finished(exchange: Exchange, report: RequestReport): void {
    this.#exchanges.delete(exchange);
    this.#load.inFlight -= 1;
    this.metrics.finished(report);
    this.#settle();
  }

  /** Errors: `draining`, `overloaded`; never for the server's own routes. */
  admit(dialect: Dialect): void {
    if (dialect === this.system) return;
    if (this.draining) return this.#refuse('draining', DRAIN_RETRY_SECONDS);
    if (this.#load.overloaded) this.#refuse('overloaded', this.#load.thresholds.retryAfterSeconds);
  }

  /** Lets what is under way end by itself for `ms`, then closes sockets with 1012, then drops the rest. */
  async drain(ms: number = LIMITS.http.drainMs): Promise<void> {
    this.draining = true;
    this.#health.drain();
    if (await this.#idleWithin(ms)) return;
    this.sockets.closeAll('restart');
    if (await this.#idleWithin(FORCE_MS)) return;
    this.dropAll();
  }

  dropAll(): void {
    this.sockets.terminateAll();
    for (const exchange of this.#exchanges) exchange.destroy();
  }

  #refuse(code: 'draining' | 'overloaded', retryAfter: number): never {
    this.metrics.shed(code);
    throw new ServiceError(code, { retryAfter });
  }

  #idleWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.clock.after(ms, () => resolve(false));
      this.#idle = () => {
        cancel();
        resolve(true);
      };
      this.#settle();
    });
  }

  #settle(): void {
    if (this.#exchanges.size + this.sockets.size === 0) this.#idle?.();
  }
}
