/**
 * The connections for what clients ask: their statements take turns at them (turns.ts), and share them with nothing of the gateway's
 * own. Each statement has an owner (contracts/owner.ts) and a time; when the time is over, or the owner has gone, the server is
 * told to cancel it, which also works through a pooler. Its client gets 503, others notice nothing.
 *
 * Each place is one connection, and its turn ends once the statement has ended and the server has taken the cancellation:
 * a late one would hit whatever statement is next on the connection.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import { currentOwner, type Owner } from '../../contracts/owner.js';
import type { Sql } from './sql.js';
import {
  type Begin,
  beginOf,
  poolOf,
  type Query,
  RunningStatements,
  withBegin,
  withRoute,
} from './statements.js';
import { busy, ConnectionTurns, type ConnectionTurn } from './turns.js';

export interface ClientStatementOptions {
  /** A client of so many connections. */
  open(connections: number): Sql;
  readonly connections: number;
  readonly clock: Clock;
}

/** Of statements without an owner. */
const OWN = '';
const AGAIN_MS = 100;

/** Ends one statement or transaction of a place early. */
class Watch {
  #interrupting: Promise<void> | undefined;
  #isOver = false;
  readonly #cancelTime: () => void;

  /** `ended` is told why, once. */
  constructor(
    private readonly running: RunningStatements,
    private readonly owner: Owner | undefined,
    private readonly ended: (error: unknown) => void,
    clock: Clock,
    ms: number | undefined,
  ) {
    this.#cancelTime = ms === undefined ? () => undefined : clock.after(ms, () => this.#end(busy()));
    owner?.signal?.addEventListener('abort', this.#gone);
    if (owner?.signal?.aborted) this.#gone();
  }

  /** Nothing is cancelled after this has resolved. */
  async over(): Promise<void> {
    this.#isOver = true;
    this.#cancelTime();
    this.owner?.signal?.removeEventListener('abort', this.#gone);
    await this.#interrupting;
  }

  readonly #gone = (): void => this.#end(this.owner?.signal?.reason);

  #end(error: unknown): void {
    if (this.#interrupting || this.#isOver) return;
    this.#interrupting = this.#interrupt();
    this.ended(error);
  }

  /** Again and again: its connection may not be open yet, or a transaction may be between two statements. */
  async #interrupt(): Promise<void> {
    while (!this.#isOver) {
      // A server that cannot be reached cancels nothing; the connection itself ends then, too.
      await this.running.interrupt().catch(() => undefined);
      if (!this.#isOver) await pause(AGAIN_MS);
    }
  }
}

class Asked {
  readonly #clients: readonly Sql[];
  readonly #turns: ConnectionTurns<Sql>;

  constructor(private readonly options: ClientStatementOptions) {
    const { open, connections, clock } = options;
    this.#clients = Array.from({ length: connections }, () => open(1));
    this.#turns = new ConnectionTurns(this.#clients, LIMITS.statements, clock);
  }

  /** The `sql` that stores use; it opens no connection of its own. */
  open(): Sql {
    const sql = withRoute(this.options.open(1), (query) => void this.#run(query));
    return withBegin(sql, this.#begin);
  }

  async end(timeout: number): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end({ timeout })));
  }

  #take(long: boolean): Promise<ConnectionTurn<Sql>> {
    const { tag = OWN, signal, withinMs } = currentOwner() ?? {};
    return this.#turns.take({ tag, long, signal, withinMs });
  }

  /** What is left of the owner's time; undefined for work that has none of its own. */
  #watch(running: RunningStatements, since: number, timed: boolean, ended: (error: unknown) => void): Watch {
    const owner = currentOwner();
    const { clock } = this.options;
    const left = Math.max(0, (owner?.withinMs ?? Infinity) - (clock.monotonic() - since));
    const ms = timed ? Math.min(LIMITS.statements.readMs, left) : undefined;
    return new Watch(running, owner, ended, clock, ms);
  }

  async #run(query: Query): Promise<void> {
    const since = this.options.clock.monotonic();
    const { resolve, reject } = query;
    let turn: ConnectionTurn<Sql>;
    try {
      turn = await this.#take(false);
    } catch (error) {
      return reject(error);
    }
    const over = new Promise<void>((ended) => {
      query.resolve = (result) => (resolve(result), ended());
      query.reject = (error) => (reject(error), ended());
    });
    const running = new RunningStatements();
    const watch = this.#watch(running, since, true, (error) => {
      query.givenUp = true;
      const { active } = query;
      reject(error);
      // Its connection still works at it.
      query.active = active;
    });
    running.add(query);
    poolOf(turn.place)(query);
    await over;
    await watch.over();
    turn.end();
  }

  /** Transactions that only read have the time of a statement; in others each statement has the connection's. */
  readonly #begin: Begin = async (options, work) => {
    const since = this.options.clock.monotonic();
    const reads = /read only/.test(options);
    const turn = await this.#take(!reads);
    let giveUp: (error: unknown) => void = () => undefined;
    const givenUp = new Promise<never>((_, reject) => (giveUp = reject));
    const running = new RunningStatements();
    const watch = this.#watch(running, since, reads, (error) => giveUp(error));
    // Its end is not cancelled: a rollback that fails would leave the connection within the transaction.
    const done = beginOf(turn.place)(options, async (tx) => {
      try {
        return await work(withRoute(tx, running.route));
      } finally {
        await watch.over();
      }
    });
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    void settled.then(() => watch.over()).then(() => turn.end());
    return Promise.race([done, givenUp]);
  };
}

export function createAsked(options: ClientStatementOptions): {
  readonly sql: Sql;
  end(timeout: number): Promise<void>;
} {
  const asked = new Asked(options);
  return { sql: asked.open(), end: (timeout) => asked.end(timeout) };
}
