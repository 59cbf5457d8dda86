/**
 * The state that all requests of one server share, and whether it accepts more: shedding (503 `overloaded`) and
 * draining (503 `draining`). The server's own routes are exempt from both, and so are routes that running calls need, unless as
 * many requests are under way as the server may hold: their callbacks do not come again.
 */
import type { Clock } from '../../contracts/clock.js';
import { eachInTurns } from '../../contracts/time/loop-turn.js';
import { Deadline } from '../../contracts/time/deadline.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import type { Log } from '../../contracts/log.js';
import { type Spool, SpoolFull } from './bodies/spool.js';
import type { MemoryLedger } from '../../contracts/ports/accounts/memory.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Arrival, ReplyHead } from './adapters/adapter.js';
import type { Origins } from './client-address.js';
import { Exchange } from './exchange.js';
import type { ExchangeHost, ServerParts } from './exchange-host.js';
import { Goodbye, type GoodbyeTimes } from './goodbye.js';
import type { Health } from './system/health.js';
import type { Load } from './load.js';
import type { Metrics, RequestReport } from './system/metrics.js';
import type { Dialect, HttpRequest } from './port.js';
import { GENERATION_ID } from './reply-head.js';
import type { Endpoint, Router } from './router.js';
import { RequestPlace, type Waiter } from './place.js';
import { BodyTurns } from './bodies/body-turns.js';
import { SocketHost } from './socket-host.js';
import { outcomeOf, REQUEST_LINE, UNREADABLE } from './tracing/request-line.js';
import { WaitingPool } from './waiting-pool.js';

export interface EdgeParts extends ServerParts {
  readonly load: Load;
  readonly health: Health;
  /** Called when a request failed because storage is full. */
  readonly storageFull?: () => void;
}

const MS_A_SECOND = 1000;

export interface EdgeDrain extends GoodbyeTimes {
  /** Called when the goodbye is over, and new work is refused. */
  refuses(): void;
  /** The port stays open until this resolves, for clients that return to their calls. */
  readonly calls: Promise<unknown>;
  /** Ends the wait for sockets of calls. */
  readonly callsUntil: Promise<unknown>;
  /** Ends the wait for requests and sockets, which are then cut. */
  readonly until: Promise<unknown>;
  stopAccepting(): void;
}

export interface UnderWay {
  readonly requests: number;
  /** WebSockets that last as long as their calls. */
  readonly callSockets: number;
  readonly sockets: number;
}

/** Last part of a drain, in which clients may answer their close frames. */
const FORCE_MS = 2000;

export class Edge implements ExchangeHost {
  readonly router: Router;
  readonly origins: Origins;
  readonly system: Dialect;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly memory: MemoryLedger;
  readonly spool?: Spool | undefined;
  readonly sockets: SocketHost;
  readonly bodyTurns = new BodyTurns();
  draining = false;
  /** From the end of the goodbye on. */
  #refuses = false;
  readonly #goodbye: Goodbye;
  readonly #load: Load;
  readonly #health: Health;
  readonly #storageFull: () => void;
  readonly #exchanges = new Set<Exchange>();
  readonly #waiting: WaitingPool;
  readonly #lingering: WaitingPool;
  /** Checks again whether the drain can continue. */
  #look: () => void = () => undefined;

  constructor(parts: EdgeParts) {
    this.router = parts.router;
    this.origins = parts.origins;
    this.system = parts.system;
    this.ids = parts.ids;
    this.clock = parts.clock;
    this.log = parts.log;
    this.metrics = parts.metrics;
    this.memory = parts.memory;
    this.spool = parts.spool;
    this.#load = parts.load;
    this.#health = parts.health;
    this.#storageFull = parts.storageFull ?? (() => undefined);
    this.#waiting = new WaitingPool(LIMITS.unauthenticated.requests, parts.clock);
    this.#lingering = new WaitingPool(LIMITS.refused.connections, parts.clock);
    this.sockets = new SocketHost(parts, () => this.#look());
    const isPromised = (): boolean => [...this.#exchanges].some(({ keepsConnection }) => keepsConnection);
    this.#goodbye = new Goodbye({
      clock: parts.clock,
      isPromised,
      isWatched: () => parts.health.isWatched,
      unpromised: (over) => this.#before(over, () => !isPromised()),
    });
    parts.metrics.gauge('requests_in_flight', 'Requests under way', () => this.#exchanges.size);
    const loopDelay = (): number => this.#load.loopDelayMs / MS_A_SECOND;
    parts.metrics.gauge('loop_delay_seconds', 'Mean delay of the event loop', loopDelay, [], 'max');
    parts.metrics.gauge(
      'draining',
      'Whether all gateway processes take no new work',
      () => Number(this.draining),
      [],
      'min',
    );
    parts.metrics.gauge(
      'requests_waiting',
      'Requests that wait for their client, without a key or answered already',
      () => this.#waiting.size,
    );
    parts.metrics.gauge(
      'requests_lingering',
      'Refused requests whose bodies still arrive, and are dropped',
      () => this.#lingering.size,
    );
  }

  arrived(arrival: Arrival): void {
    const exchange = new Exchange(this, arrival);
    this.#exchanges.add(exchange);
    void exchange.run();
  }

  /** Error reply in a neutral shape, since it is unknown which API was meant. */
  unreadable(error: ServiceError): { readonly head: ReplyHead; readonly body: string } {
    const { status, message, code } = error;
    this.metrics.unreadable(status);
    this.log.info({ route: UNREADABLE, status, code, outcome: outcomeOf(status) }, REQUEST_LINE);
    const headers = [
      ['Content-Type', 'application/json'],
      [GENERATION_ID, this.ids.next('generation')],
    ] as const;
    return { head: { status, headers, close: true }, body: JSON.stringify({ status, message }) };
  }

  get retryAfterSeconds(): number {
    return this.#load.thresholds.retryAfterSeconds;
  }

  /** What a drain waits for. */
  get underWay(): UnderWay {
    const { ofCalls, size } = this.sockets;
    return { requests: this.#exchanges.size, callSockets: ofCalls, sockets: size - ofCalls };
  }

  place(waiter: Waiter): RequestPlace {
    return new RequestPlace(this.#load, { waiting: this.#waiting, lingering: this.#lingering }, waiter);
  }

  failed(error: ServiceError): void {
    if (error.code === 'storage_full' && !(error instanceof SpoolFull)) this.#storageFull();
  }

  finished(exchange: Exchange, report: RequestReport): void {
    this.#exchanges.delete(exchange);
    this.metrics.finished(report);
    if (exchange.keepsConnection) this.#goodbye.kept();
    this.#look();
  }

  admit(dialect: Dialect, endpoint: Endpoint | undefined, request: Pick<HttpRequest, 'query'>): void {
    if (dialect === this.system) return;
    const { whileDraining: asked = false, beginsCalls = false } = endpoint ?? {};
    const whileDraining = typeof asked === 'function' ? asked(request) : asked;
    if (this.#refuses && !whileDraining) return this.refuse('draining');
    const isOfCall = whileDraining && !beginsCalls;
    if (isOfCall ? this.#load.full : this.#load.overloaded) this.refuse('overloaded');
  }

  /**
   * Says goodbye (goodbye.ts), then refuses new work, on new connections too. Calls `stopAccepting` once calls have ended, including
   * calls of other nodes whose clients are connected here. Lets running work end by itself until `until` resolves, then closes
   * sockets with 1012, those of calls once these have ended, then drops the rest.
   */
  async drain({ calls, callsUntil, until, refuses, stopAccepting, ...times }: EdgeDrain): Promise<void> {
    this.draining = true;
    this.#health.drain();
    await this.#goodbye.say({ ...times, over: Promise.race([times.over, until]) });
    this.#refuses = true;
    refuses();
    void until.then(() => this.sockets.closeAll('restart', ({ isOfCall }) => !isOfCall));
    await calls;
    await this.#before(callsUntil, () => this.sockets.ofCalls === 0);
    stopAccepting();
    const isIdle = (): boolean => this.#exchanges.size + this.sockets.size === 0;
    if (await this.#before(until, isIdle)) return;
    await this.sockets.closeAll('restart');
    const forced = new Deadline(this.clock, FORCE_MS);
    if (!(await this.#before(forced.passed, isIdle))) await this.dropAll();
    forced.drop();
  }

  async dropAll(): Promise<void> {
    await this.sockets.terminateAll();
    await eachInTurns(this.#exchanges, (exchange) => exchange.cut());
  }

  refuse(code: 'draining' | 'overloaded'): never {
    const retryAfter = code === 'draining' ? LIMITS.http.drainRetrySeconds : this.retryAfterSeconds;
    this.metrics.shed(code);
    throw new ServiceError(code, { retryAfter });
  }

  /** Resolves with whether `isSo` became true before `until` resolved. */
  #before(until: Promise<unknown>, isSo: () => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (isSo()) resolve(true);
      };
      this.#look();
      void until.then(() => resolve(false));
    });
  }
}
