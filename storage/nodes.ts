/**
 * This process as a node: its row, which it renews by heartbeats, and the rows of all nodes. Times are the database's; its
 * own tenure it measures by its own clock (contracts/time/tenure.ts), and it spares nodes that it has just seen beat, since the
 * database's clock may be set (heartbeats.ts).
 *
 * Invariants: a row is deleted only once its lease has run out, after its process has fallen silent; the same statement
 * marks its calls as lost; a process whose row is gone releases all its calls before it becomes a node again.
 */
import { CALL_TIMES } from '../contracts/limits/call-times.js';
import type { Clock } from '../contracts/clock.js';
import { ServiceError, toServiceError, whyOf } from '../contracts/errors.js';
import type { Log } from '../contracts/log.js';
import type { Held, NodeFigures, NodeRecord, Nodes } from '../contracts/ports/calls/nodes.js';
import { repeat } from '../contracts/time/repeat.js';
import { Tenure } from '../contracts/time/tenure.js';
import { waitUpTo } from '../contracts/time/timeouts.js';
import { Heartbeats } from './heartbeats.js';
import { repeatable } from './postgres/once-more.js';
import type { Sql, Transaction } from './postgres/sql.js';

export interface NodeParts {
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

const LOOK_MS = 5000;
/** How long a row whose lease has run out is left for processes to which its clients return. */
const UNCLAIMED_MS = 10_000;
const { heartbeatMs, leaseMs, silentMs, aloneLeaseMs } = CALL_TIMES;
const ALONE: NodeFigures = { calls: 0, places: null, draining: false };

/** Whether the row `o` has been renewed in time, and not before the clock was set back; `more`: milliseconds beyond its lease. */
export const isAlive = (sql: Sql | Transaction, more = 0) => sql`
  o.seen_at > now() - (o.lease_ms + ${more}::int) * interval '1 millisecond'
  and o.seen_at < now() + ${leaseMs}::int * interval '1 millisecond'`;

/** Marks the calls of a deleted node as lost since its last heartbeat. */
const loseCalls = (sql: Sql | Transaction) => sql`
  update sessions s set lost_at = least(dead.seen_at, now()) from dead
  where s.owner_id = dead.process_id and s.status in ('pending', 'active') and s.lost_at is null`;

/** Declares nodes dead that have been silent for long, except `beating`; marks calls whose node left no row as lost. */
export async function dropDead(sql: Sql, beating: readonly string[] = []): Promise<void> {
  await sql`
    with dead as (
      delete from session_owners o
      where not (${isAlive(sql, UNCLAIMED_MS)}) and o.process_id <> all(${beating as string[]}::text[])
      returning o.process_id, o.seen_at
    ) ${loseCalls(sql)}`;
  await sql`
    update sessions s set lost_at = now()
    where s.status = 'active' and s.lost_at is null
      and not exists (select from session_owners o where o.process_id = s.owner_id)`;
}

const list = (sql: Sql) => sql<NodeRecord[]>`
  select o.process_id as id, o.installation, o.url, o.places, o.calls, o.draining, o.version,
    o.started_at as "startedAt", o.seen_at as "seenAt", ${isAlive(sql)} as alive
  from session_owners o order by o.started_at, o.process_id`;

export class OwnNode implements Nodes {
  readonly #tenure: Tenure;
  readonly #heartbeats: Heartbeats;
  #entered = false;
  #stops: readonly (() => void)[] = [];
  #url: string | null = null;
  #figures = (): NodeFigures => ALONE;
  #known: readonly NodeRecord[] = [];

  private constructor(private readonly parts: NodeParts) {
    this.#tenure = new Tenure(parts.clock);
    this.#heartbeats = new Heartbeats(parts.clock);
  }

  #start(): void {
    const { clock, log, sql } = this.parts;
    const every = (ms: number, what: string, work: () => Promise<unknown>) =>
      repeat(clock, ms, work, (error) => log.warn(whyOf(error), what));
    this.#stops = [
      every(heartbeatMs, 'could not say that this process lives', () => this.#beat()),
      every(LOOK_MS, 'could not look for other nodes', async () => {
        // Its own row may be stale, too, when the database comes back.
        await dropDead(sql, [...this.#heartbeats.beating, this.parts.processId]);
        this.#known = await this.list();
      }),
    ];
  }

  /** Resolves once its row is written, or the disk has no room for it: then it is tried again. Errors: the database's. */
  static async open(parts: NodeParts): Promise<OwnNode> {
    const node = new OwnNode(parts);
    await node.#enter().catch((error: unknown) => {
      if (toServiceError(error).code !== 'storage_full') throw error;
      parts.log.warn(whyOf(error), 'no room to say that this process lives: it takes no calls');
    });
    node.#start();
    return node;
  }

  get held(): Held {
    return this.#tenure;
  }

  /** All nodes, as of some seconds ago. */
  get known(): readonly NodeRecord[] {
    return this.#known;
  }

  /** Publishes its address and figures to other nodes from now on. */
  serve(url: string, figures: () => NodeFigures): void {
    this.#url = url;
    this.#figures = figures;
  }

  list(): Promise<readonly NodeRecord[]> {
    return list(this.parts.sql);
  }

  /** Declares another node dead if its lease has run out. */
  async dropStale(processId: string): Promise<void> {
    const { sql } = this.parts;
    if (this.#heartbeats.beating.includes(processId)) return;
    await repeatable(sql`
      with dead as (
        delete from session_owners o where o.process_id = ${processId} and not (${isAlive(sql)})
        returning o.process_id, o.seen_at
      ) ${loseCalls(sql)}`);
  }

  /** Its sessions are lost from now on. Never rejects. */
  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#tenure.stop();
    const { sql, processId, log } = this.parts;
    const end = repeatable(sql`delete from session_owners where process_id = ${processId}`);
    await end.catch((error: unknown) => log.warn(whyOf(error), 'could not say that this process has ended'));
  }

  /** Starts without sessions: others may have taken over those that it owned before. */
  async #enter(): Promise<void> {
    const { sql, processId, address, installation, version, clock } = this.parts;
    const sentAt = clock.monotonic();
    await sql.begin(async (tx) => {
      await tx`
        update sessions set owner_id = null, lost_at = coalesce(lost_at, now())
        where owner_id = ${processId} and status in ('pending', 'active')`;
      await tx`
        insert into session_owners (process_id, address, installation, version, lease_ms, shares_plans)
        values (${processId}, ${address}, ${installation}, ${version}, ${leaseMs}, true)
        on conflict (process_id) do update set seen_at = now(), lease_ms = excluded.lease_ms`;
    });
    this.#entered = true;
    this.#tenure.renew(sentAt, silentMs);
  }

  async #beat(): Promise<void> {
    const { clock, aloneSilentMs = CALL_TIMES.aloneSilentMs } = this.parts;
    const sentAt = clock.monotonic();
    const answer = await waitUpTo(clock, leaseMs, this.#renew());
    if (answer === undefined)
      throw new ServiceError('storage_unavailable', { message: `no answer in ${leaseMs} ms` });
    const [renewed] = answer;
    if (renewed) {
      this.#heartbeats.saw(renewed.beats);
      return this.#tenure.renew(sentAt, renewed.alone ? aloneSilentMs : silentMs);
    }
    if (this.#entered) this.parts.log.error({}, 'this process was taken for dead: it lets go of its calls');
    this.#tenure.lose();
    await this.#enter();
  }

  #renew() {
    const { sql, processId } = this.parts;
    const { calls, places, draining } = this.#figures();
    return repeatable(sql<{ alone: boolean; beats: Readonly<Record<string, string>> }[]>`
      with peers as (select from session_owners o where o.process_id <> ${processId} and ${isAlive(sql)} limit 1)
      update session_owners set seen_at = now(), url = ${this.#url}, calls = ${calls}, places = ${places},
        draining = ${draining},
        lease_ms = case when exists (select from peers) then ${leaseMs}::int else ${aloneLeaseMs}::int end
      where process_id = ${processId}
      returning not exists (select from peers) as alone,
        (select json_object_agg(n.process_id, n.seen_at) from session_owners n) as beats`);
  }
}
