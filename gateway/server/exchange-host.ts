/** The part of the server that a request needs (edge.ts). */
import type { Clock } from '../../contracts/clock.js';
import type { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import type { Log } from '../../contracts/log.js';
import type { MemoryLedger } from '../../contracts/ports/accounts/memory.js';
import type { BodyTurns } from './bodies/body-turns.js';
import type { Spool } from './bodies/spool.js';
import type { Origins } from './client-address.js';
import type { RequestPlace, Waiter } from './place.js';
import type { Dialect, HttpRequest } from './port.js';
import type { Endpoint, Router } from './router.js';
import type { SocketHost } from './socket-host.js';
import type { Metrics, RequestReport } from './system/metrics.js';

/** What the whole server shares, as it is given to it. */
export interface ServerParts {
  readonly router: Router;
  readonly origins: Origins;
  /** The dialect of the server's own routes, and of requests that fit no route. */
  readonly system: Dialect;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly memory: MemoryLedger;
  /** Absent: large files stay in memory. */
  readonly spool?: Spool | undefined;
}

export interface ExchangeHost extends ServerParts {
  readonly sockets: SocketHost;
  readonly bodyTurns: BodyTurns;
  readonly draining: boolean;
  readonly retryAfterSeconds: number;
  /** Counts the request in the server's load from its arrival on. */
  place(waiter: Waiter): RequestPlace;
  /** Errors: `draining`, `overloaded`; never for the server's own routes. `endpoint`: the matching one, if any. */
  admit(dialect: Dialect, endpoint: Endpoint | undefined, request: Pick<HttpRequest, 'query'>): void;
  /** Always throws. */
  refuse(code: 'draining' | 'overloaded'): never;
  /** The request is about to report this error to its client. */
  failed(error: ServiceError): void;
  /** The request has ended. */
  finished(exchange: { cut(): void; readonly keepsConnection: boolean }, report: RequestReport): void;
}
