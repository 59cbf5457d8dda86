/**
 * Clients of postgres.js whose statements go another way than straight to the pool: what we add to the package, around its `sql`.
 * A statement is a promise that sends itself when it is first waited for, by its `handler`.
 */
import type { Sql, Transaction } from './sql.js';

/** The part of a postgres.js statement that is needed here. */
export interface Query extends PromiseLike<unknown> {
  readonly strings: readonly string[];
  readonly cancelled: unknown;
  /** Set if rows are handed out while they arrive. */
  readonly forEachFn?: unknown;
  readonly cursorFn?: unknown;
  /** Sends it to the connection, or to the pool, of the `sql` that made it. */
  handler: Send;
  /** Has the server cancel it. Resolves once the server has taken that. */
  canceller(query: Query): Promise<void>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** Nobody waits for it any more (asked.ts). */
  givenUp?: boolean;
  /** It is the statement that its connection works at. */
  active: boolean;
  state: unknown;
  statement: unknown;
  /** As sent to the server; computed again from the arguments. */
  parameters: unknown;
}

export type Send = (query: Query) => void;

/** Told each statement when it is to be sent, and how it would be. */
export type StatementRoute = (query: Query, send: Send) => void;

/** The templates, and statements by text; all else of `sql` is as it was. */
const isStatement = (made: unknown): made is Query => made instanceof Promise && 'handler' in made;

function routed<Made>(made: Made, route: StatementRoute): Made {
  if (!isStatement(made)) return made;
  const send = made.handler;
  made.handler = (query) => route(query, send);
  return made;
}

/** An `sql` whose statements go by `route`. */
export function withRoute<Client extends Sql | Transaction>(sql: Client, route: StatementRoute): Client {
  const unsafe = (...args: Parameters<Client['unsafe']>): unknown =>
    routed(Reflect.apply(sql.unsafe, sql, args), route);
  return new Proxy(sql, {
    apply: (target, self, args) => routed(Reflect.apply(target as never, self, args) as unknown, route),
    get: (target, key) => (key === 'unsafe' ? unsafe : (Reflect.get(target, key) as unknown)),
  });
}

/** How a client sends statements to its pool; those of other clients may go there as well. */
export const poolOf = (sql: Sql): Send => (sql.unsafe('') as unknown as Query).handler;

export type TransactionWork = (tx: Transaction) => unknown;
/** Begins a transaction with options in words, `read only` for example. */
export type Begin = (options: string, work: TransactionWork) => Promise<unknown>;

/** How transactions of this `sql` begin now. */
export const beginOf = (sql: Sql): Begin => sql.begin.bind(sql) as Begin;

/** An `sql` whose transactions begin by `begin`. */
export const withBegin = <Client extends Sql>(sql: Client, begin: Begin): Client =>
  Object.assign(sql, {
    begin: (...args: [TransactionWork] | [string, TransactionWork]) =>
      args.length === 1 ? begin('', args[0]) : begin(...args),
  });

/** Statements that are under way, which the server can be told to cancel. */
export class RunningStatements {
  readonly #queries = new Set<Query>();

  add(query: Query): void {
    this.#queries.add(query);
  }

  /** A route for those of a transaction. */
  readonly route: StatementRoute = (query, send) => {
    const over = (): boolean => this.#queries.delete(query);
    this.add(query);
    send(query);
    query.then(over, over);
  };

  /** Has the server cancel what their connections work at, if anything. Resolves once the server has taken that. */
  async interrupt(): Promise<void> {
    const active = [...this.#queries].filter((query) => query.active);
    await Promise.all(active.map((query) => query.canceller(query)));
  }
}
