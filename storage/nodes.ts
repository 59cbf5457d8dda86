/**
 * This process as a node: its row, which it renews by heartbeats, and the rows of all nodes. Times are the database's; its
 * own lease it measures by its own clock (contracts/time/node-lease.ts), and it declares nobody dead while the database's clock is not
 * as it expects, since that may have been set (database-time.ts).
 *
 * Invariants: a row is deleted only once its lease has run out, after its process has fallen silent; the same statement
 * marks its calls as lost; a process whose row is gone releases all its calls before it becomes a node again.
 */
import { firstCost } from '../contracts/admission/call-cost.js';
import { CALL_TIMES } from '../contracts/limits/call-times.js';
import { LIMITS } from '../contracts/limits.js';
import type { Clock } from '../contracts/clock.js';
import { ServiceError, toServiceError, whyOf } from '../contracts/errors.js';
import type { Log } from '../contracts/log.js';
import type { HeldLease, KnownNodes, NodeFigures, NodeRecord } from '../contracts/ports/calls/nodes.js';
import { repeat } from '../contracts/time/repeat.js';
import { thinned } from '../contracts/time/thinned.js';
import { NodeLease } from '../contracts/time/node-lease.js';
import { waitUpTo } from '../contracts/time/timeouts.js';
import { ANY_TIME, DatabaseTime, type Times } from './database-time.js';
import { repeatable } from './postgres/once-more.js';
import type { Sql, Transaction } from './postgres/sql.js';
import { isIn, isLive } from './sessions/states.js';

export interface OwnNodeParts {
  readonly sql: Sql;
  /** Unique among all live processes. */
  readonly processId: string;
  /** The socket on which this process accepts signalling frames of its sessions from other processes of its installation. */
  readonly address: string;
  /** The same for all processes of one supervisor. */
  readonly installation: string;
  readonly version: string;
  /** How long it acts for its calls without a heartbeat if it was alone at its last one. */
  readonly aloneSilentMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often a process looks at the other nodes. */
export const LOOK_MS = 5000;
/** How long a row whose lease has run out is left for processes to which its clients return. */
export const UNCLAIMED_MS = 10_000;
/** So many of the oldest nodes do each time what one could do for all; the others once in a while. */
export const ELDERS = 3;
export const SELDOM = 12;
const { heartbeatMs, leaseMs, silentMs, aloneLeaseMs } = CALL_TIMES;
const CLOCK_AWAY = "this machine's clock differs from the database's, which counts for calls, keys and links";
/** What a call costs at a node that does not tell: cores of a machine of a usual size. */
const UNTOLD_COST = firstCost(4);
const ALONE: NodeFigures = { calls: 0, places: null, draining: false, load: 0, callCost: UNTOLD_COST };

/** Whether the row `o` has been renewed in time, and not before the clock was set back; `more`: milliseconds beyond its lease. */
export const isAlive = (sql: Sql | Transaction, more = 0) => sql`
  o.seen_at > now() - (o.lease_ms + ${more}::int) * interval '1 millisecond'
  and o.seen_at < now() + ${leaseMs}::int * interval '1 millisecond'`;

/** Marks the calls of a deleted node as lost since its last heartbeat. */
const loseCalls = (sql: Sql | Transaction) => sql`
  update sessions s set lost_at = least(dead.seen_at, now()) from dead
  where s.owner_id = dead.process_id and ${isLive(sql)} and s.lost_at is null`;

interface Timed {
  readonly time: number;
}

/** The database's time, in milliseconds since the epoch. */
const timeNow = (sql: Sql | Transaction) => sql`(extract(epoch from now()) * 1000)::float8`;

/** Whether the database's clock shows one of these times. */
const isAt = (sql: Sql, { from, to }: Times) =>
  sql`${timeNow(sql)} between ${from}::float8 and ${to}::float8`;

/** Declares nodes dead that have been silent for long, except `own`, at these times; marks calls whose node left no row as lost. */
export async function dropDead(sql: Sql, own = '', times = ANY_TIME): Promise<void> {
  await sql`
    with dead as (
      delete from session_owners o
      where not (${isAlive(sql, UNCLAIMED_MS)}) and o.process_id <> ${own} and ${isAt(sql, times)}
      returning o.process_id, o.seen_at
    ) ${loseCalls(sql)}`;
  await sql`
    update sessions s set lost_at = now()
    where ${isIn(sql, ['active'])}
      and not exists (select from session_owners o where o.process_id = s.owner_id)`;
}

const list = (sql: Sql) => sql<NodeRecord[]>`
  select o.process_id as id, o.installation, o.url, o.places, o.calls, o.draining, o.version,
    coalesce(o.load, o.calls * ${UNTOLD_COST}::real) as load,
    coalesce(o.call_cost, ${UNTOLD_COST}::real) as "callCost", o.started_at as "startedAt", o.seen_at as "seenAt",
    (extract(epoch from now() - o.seen_at) * 1000)::float8 as "ageMs", ${isAlive(sql)} as alive
  from session_owners o order by o.started_at, o.process_id`;

export class OwnNode implements KnownNodes {
  /** The time of day that all nodes share, which is the database's; everything else is this machine's clock. */
  readonly clock: Clock;
  readonly #lease: NodeLease;
  readonly #time: DatabaseTime;
  #entered = false;
  #isAway = false;
  #stops: readonly (() => void)[] = [];
  #url: string | null = null;
  #figures = (): NodeFigures => ALONE;
  #known: readonly NodeRecord[] = [];
  #looking: Promise<readonly NodeRecord[]> | undefined;

  private constructor(private readonly parts: OwnNodeParts) {
    this.#lease = new NodeLease(parts.clock);
    this.#time = new DatabaseTime(parts.clock);
    const { clock } = parts;
    this.clock = {
      now: () => this.#time.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, task) => clock.after(ms, task),
    };
  }

  #start(): void {
    const { clock, log, sql, processId } = this.parts;
    const every = (ms: number, what: string, work: () => Promise<unknown>) =>
      repeat(clock, ms, work, (error) => log.warn(whyOf(error), what));
    // Its own row may be stale, too, when the database comes back.
    const drop = this.shared(() => dropDead(sql, processId, this.#time.expected));
    this.#stops = [
      every(heartbeatMs, 'could not say that this process lives', () => this.#beat()),
      every(LOOK_MS, 'could not look for other nodes', async () => {
        await drop();
        await this.look();
      }),
    ];
  }

  /** Resolves once its row is written, or the disk has no room for it: then it is tried again. Errors: the database's. */
  static async open(parts: OwnNodeParts): Promise<OwnNode> {
    const node = new OwnNode(parts);
    await node.#enter().catch((error: unknown) => {
      if (toServiceError(error).code !== 'storage_full') throw error;
      parts.log.warn(whyOf(error), 'no room to say that this process lives: it takes no calls');
    });
    node.#start();
    return node;
  }

  get held(): HeldLease {
    return this.#lease;
  }

  /** All nodes, as of some seconds ago. */
  get known(): readonly NodeRecord[] {
    return this.#known;
  }

  /** Work that one process could do for all, as it is to be repeated here: each time only by the oldest nodes. */
  shared(work: () => Promise<unknown>): () => Promise<void> {
    const times = (): number => Math.max(SELDOM, this.#known.length);
    return thinned(() => this.#isElder, times, work);
  }

  /** One that does not know itself yet may be. */
  get #isElder(): boolean {
    const living = this.#known.filter(({ alive }) => alive);
    return living.findIndex(({ id }) => id === this.parts.processId) < ELDERS;
  }

  /** Publishes its address and figures to other nodes from now on. */
  serve(url: string, figures: () => NodeFigures): void {
    this.#url = url;
    this.#figures = figures;
  }

  list(): Promise<readonly NodeRecord[]> {
    return list(this.parts.sql);
  }

  look(): Promise<readonly NodeRecord[]> {
    this.#looking ??= this.list()
      .then((nodes) => (this.#known = nodes))
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Declares another node dead if its lease has run out. */
  async dropStale(processId: string): Promise<void> {
    const { sql } = this.parts;
    await repeatable(sql`
      with dead as (
        delete from session_owners o
        where o.process_id = ${processId} and not (${isAlive(sql)}) and ${isAt(sql, this.#time.expected)}
        returning o.process_id, o.seen_at
      ) ${loseCalls(sql)}`);
  }

  /** Its sessions are lost from now on. Never rejects. */
  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#lease.stop();
    const { sql, processId, log } = this.parts;
    const end = repeatable(sql`delete from session_owners where process_id = ${processId}`);
    await end.catch((error: unknown) => log.warn(whyOf(error), 'could not say that this process has ended'));
  }

  /** Starts without sessions: others may have taken over those that it owned before. */
  async #enter(): Promise<void> {
    const { sql, processId, address, installation, version, clock } = this.parts;
    const sentAt = clock.monotonic();
    const time = await sql.begin(async (tx) => {
      await tx`
        update sessions s set owner_id = null, lost_at = coalesce(s.lost_at, now())
        where s.owner_id = ${processId} and ${isLive(tx)}`;
      const [entered] = await tx<Timed[]>`
        insert into session_owners (process_id, address, installation, version, lease_ms)
        values (${processId}, ${address}, ${installation}, ${version}, ${leaseMs})
        on conflict (process_id) do update set seen_at = now(), lease_ms = excluded.lease_ms
        returning ${timeNow(tx)} as time`;
      return entered?.time;
    });
    if (time !== undefined) this.#told(time, sentAt);
    this.#entered = true;
    this.#lease.renew(sentAt, silentMs);
  }

  async #beat(): Promise<void> {
    const { clock, aloneSilentMs = CALL_TIMES.aloneSilentMs } = this.parts;
    const sentAt = clock.monotonic();
    const answer = await waitUpTo(clock, leaseMs, this.#renew());
    if (answer === undefined)
      throw new ServiceError('storage_unavailable', { message: `no answer in ${leaseMs} ms` });
    const [renewed] = answer;
    if (renewed) {
      this.#told(renewed.time, sentAt);
      return this.#lease.renew(sentAt, renewed.alone ? aloneSilentMs : silentMs);
    }
    if (this.#entered) this.parts.log.error({}, 'this process was taken for dead: it lets go of its calls');
    this.#lease.lose();
    await this.#enter();
  }

  #told(time: number, sentAt: number): void {
    const { clock, log } = this.parts;
    this.#time.told(time, sentAt);
    const away = Math.round(clock.now() - this.#time.now());
    const isAway = Math.abs(away) > LIMITS.node.clockMs;
    if (isAway && !this.#isAway) log.warn({ ms: away }, CLOCK_AWAY);
    this.#isAway = isAway;
  }

  #renew() {
    const { sql, processId } = this.parts;
    const { calls, places, draining, load, callCost } = this.#figures();
    return repeatable(sql<(Timed & { alone: boolean })[]>`
      with peers as (select from session_owners o where o.process_id <> ${processId} and ${isAlive(sql)} limit 1)
      update session_owners set seen_at = now(), url = ${this.#url}, calls = ${calls}, places = ${places},
        draining = ${draining}, load = ${load}::real, call_cost = ${callCost}::real,
        lease_ms = case when exists (select from peers) then ${leaseMs}::int else ${aloneLeaseMs}::int end
      where process_id = ${processId}
      returning not exists (select from peers) as alone,
        ${timeNow(sql)} as time`);
  }
}
