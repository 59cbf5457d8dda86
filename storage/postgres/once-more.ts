/**
 * Resends a statement whose connection has died, once, on another connection, if running it twice is safe: reads, the
 * `begin` of a transaction (nothing of it has run yet), and writes marked `repeatable`. Statements within a transaction are
 * never resent: the transaction's earlier work is lost with the connection. If the second connection is lost too, or none
 * can be opened, the statement fails as usual.
 */
import { codeOf } from '../failure.js';

/** The part of a postgres.js query that is needed here. */
export interface Query {
  readonly strings: readonly string[];
  readonly cancelled: unknown;
  /** Set if rows are handed out while they arrive. */
  readonly forEachFn?: unknown;
  readonly cursorFn?: unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** Nobody waits for it any more (asked.ts). */
  givenUp?: boolean;
  active: boolean;
  state: unknown;
  statement: unknown;
  /** As sent to the server; computed again from the arguments. */
  parameters: unknown;
}

/** Pause before resending: when a server ends, its connections die within some milliseconds, and none of them is to be used. */
const PAUSE_MS = 100;

/** Codes for a lost connection or server process; the last three are Postgres' own. */
const LOST = new Set(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', '57P01', '57P02', '57P05']);

/** Includes notifications: a listener that gets one twice only looks twice. */
const READS = /^\s*(select|begin)\b/i;

const REPEATABLE = new WeakSet<object>();
const sent = new WeakSet<object>();

/**
 * Marks a write that may run twice: it leaves the same rows, its result is the same or unused, and running again after
 * other writes does no harm.
 */
export function repeatable<Statement extends object>(statement: Statement): Statement {
  REPEATABLE.add(statement);
  return statement;
}

const isSafe = (query: Query): boolean =>
  (REPEATABLE.has(query) || READS.test(query.strings[0] ?? '')) && !query.forEachFn && !query.cursorFn;

/** Called with every statement for the pool before it is sent; `send` passes it to the pool again. */
export function onceMore(query: Query, send: (query: Query) => void): void {
  if (sent.has(query) || !isSafe(query)) return;
  sent.add(query);
  const { reject } = query;
  query.reject = (error) => {
    query.reject = reject;
    if (query.cancelled || query.givenUp || !LOST.has(codeOf(error))) return reject(error);
    // The connection may report its end twice.
    query.reject = () => undefined;
    setTimeout(() => {
      Object.assign(query, { reject, active: false, state: null, statement: null, parameters: undefined });
      send(query);
    }, PAUSE_MS);
  };
}
