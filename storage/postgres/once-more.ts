/**
 * Resends a statement whose connection has died, once, on another connection, if running it twice is safe: reads, the
 * `begin` of a transaction (nothing of it has run yet), and writes marked `repeatable`. Statements within a transaction are
 * never resent: the transaction's earlier work is lost with the connection. If the second connection is lost too, or none
 * can be opened, the statement fails as usual.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../failure.js';
import type { Sql } from './sql.js';
import { type Begin, beginOf, type Query, type Send, withBegin, withRoute } from './statements.js';

/** Pause before resending: when a server ends, its connections die within some milliseconds, and none of them is to be used. */
const PAUSE_MS = 100;

/** Codes for a lost connection or server process; the last three are Postgres' own. */
const LOST = new Set(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', '57P01', '57P02', '57P05']);
const isLost = (error: unknown): boolean => LOST.has(codeOf(error));

/** Includes notifications: a listener that gets one twice only looks twice. */
const READS = /^\s*select\b/i;

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

/** Sends a statement, and once more if it may be. */
function sendOnceMore(query: Query, send: Send): void {
  if (!sent.has(query) && isSafe(query)) {
    sent.add(query);
    const { reject } = query;
    query.reject = (error) => {
      query.reject = reject;
      if (query.cancelled || query.givenUp || !isLost(error)) return reject(error);
      // The connection may report its end twice.
      query.reject = () => undefined;
      setTimeout(() => {
        Object.assign(query, { reject, active: false, state: null, statement: null, parameters: undefined });
        send(query);
      }, PAUSE_MS);
    };
  }
  send(query);
}

/** Begins transactions as `begin` does, and once more where the connection was lost before the work had begun. */
function beginningOnceMore(begin: Begin): Begin {
  return async (options, work) => {
    let hasBegun = false;
    const attempt = () =>
      begin(options, (tx) => {
        hasBegun = true;
        return work(tx);
      });
    try {
      return await attempt();
    } catch (error) {
      if (hasBegun || !isLost(error)) throw error;
      await pause(PAUSE_MS);
      return attempt();
    }
  };
}

/** A client that sends again what may be sent again. */
export const resending = (sql: Sql): Sql =>
  withBegin(withRoute(sql, sendOnceMore), beginningOnceMore(beginOf(sql)));
