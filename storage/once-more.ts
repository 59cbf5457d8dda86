/**
 * A statement whose connection has died is sent once more, on another connection, where that does nothing twice: reads,
 * the `begin` of a transaction, of which nothing has run by then, and writes that say so themselves (`repeatable`). What
 * is asked within a transaction never comes here: what ran before it has gone with the connection. Where the second
 * connection is lost too, or none is to be had, the statement fails as any other does.
 */
import { codeOf } from './failure.js';

/** What postgres.js calls a query, as far as it is needed here. */
export interface Query {
  readonly strings: readonly string[];
  readonly cancelled: unknown;
  /** Rows are given out as they come. */
  readonly forEachFn?: unknown;
  readonly cursorFn?: unknown;
  reject(error: unknown): void;
  active: boolean;
  state: unknown;
  statement: unknown;
  /** As they went to the server: made of the arguments anew. */
  parameters: unknown;
}

/** Where a server ends, several connections die within some milliseconds: none of these is tried. */
const PAUSE_MS = 100;

/** The connection, or the server's process behind it, has gone; the last three are Postgres' own words for it. */
const LOST = new Set(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', '57P01', '57P02', '57P05']);

/** What notifies is among them: whoever hears it twice looks twice. */
const READS = /^\s*(select|begin)\b/i;

const REPEATABLE = new WeakSet<object>();
const sent = new WeakSet<object>();

/**
 * Marks a write that may run twice: it leaves the same rows behind, what it returns is the same as well or nobody looks,
 * and it does no harm behind what others have written in the meantime.
 */
export function repeatable<Statement extends object>(statement: Statement): Statement {
  REPEATABLE.add(statement);
  return statement;
}

const isSafe = (query: Query): boolean =>
  (REPEATABLE.has(query) || READS.test(query.strings[0] ?? '')) && !query.forEachFn && !query.cursorFn;

/** Called with every statement that the pool is given, before it is sent; `send` gives it to the pool again. */
export function onceMore(query: Query, send: (query: Query) => void): void {
  if (sent.has(query) || !isSafe(query)) return;
  sent.add(query);
  const { reject } = query;
  query.reject = (error) => {
    query.reject = reject;
    if (query.cancelled || !LOST.has(codeOf(error))) return reject(error);
    // The connection may tell of its end twice.
    query.reject = () => undefined;
    setTimeout(() => {
      Object.assign(query, { reject, active: false, state: null, statement: null, parameters: undefined });
      send(query);
    }, PAUSE_MS);
  };
}
