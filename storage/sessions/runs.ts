/**
 * Sessions as their owner sees them, the process that holds their conversations (contracts/ports/sessions/sessions.ts
 * `SessionRuns`). A session has at most one owner: joining is one statement, which spends the token. The owner sends
 * heartbeats, and learns the end of its sessions by NOTIFY, or from the rows if that was lost.
 */
import { whyOf } from '../../contracts/errors.js';
import type { Clock } from '../../contracts/clock.js';
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import type { Log } from '../../contracts/log.js';
import type {
  CallOwner,
  JoinRefusal,
  RunningSession,
  SessionRuns,
} from '../../contracts/ports/sessions/sessions.js';
import { repeat } from '../../contracts/time/repeat.js';
import type { Database } from '../postgres/database.js';
import type { PlanContents, StoredPlan } from '../plans/plan-contents.js';
import type { Sql } from '../postgres/sql.js';
import { nextPart } from '../recordings.js';
import { endSession } from './endings.js';
import { isAlive, type OwnNode } from '../nodes.js';
import { OwnedSessions } from './owned-sessions.js';
import { appendItems } from './items.js';
import { columns, itemsOf, lastedUntilNow, recordOf, type Row } from './rows.js';
import { keepSaid } from './said.js';
import { endOverdue, removeOld } from './sweep.js';
import { keepTurn, lastTurn } from './turns.js';

export interface SessionRunsParts {
  readonly database: Pick<Database, 'sql' | 'events'>;
  /** Unique among all live processes. */
  readonly processId: string;
  readonly node: Pick<OwnNode, 'dropStale'>;
  readonly plans: PlanContents;
  readonly clock: Clock;
  readonly log: Log;
  /** Days for which sessions are kept after their end; 0, the default: for ever. */
  readonly sessionDays?: number;
}

const SWEEP_MS = 5000;
const CLEAN_MS = 60_000;

const spend = (sql: Sql, id: string, processId: string) => sql<Planned[]>`
  update sessions s set joined_at = now(), owner_id = ${processId}
  where s.id = ${id} and s.status = 'pending' and s.joined_at is null and s.expires_at > now()
  returning ${columns(sql)}, s.plan`;

async function refusalOf(sql: Sql, id: string): Promise<JoinRefusal | undefined> {
  const [row] = await sql<{ refused: JoinRefusal | null }[]>`
    select case when ended_at is not null and ended_reason <> 'not_joined' then 'ended'
      when joined_at is not null then 'used'
      when ended_at is not null or expires_at <= now() then 'expired' end as refused
    from sessions where id = ${id}`;
  return row ? (row.refused ?? undefined) : 'unknown';
}

type Planned = Row & { readonly plan: StoredPlan };

const sessionOf = async ({ plan, ...row }: Planned, plans: PlanContents): Promise<RunningSession> => ({
  record: recordOf(row),
  plan: await plans.planOf(plan, row),
});

/** As `sessionOf` for a session that this process has just got; given up if there is no memory for its plan. */
async function entered(
  row: Planned,
  { database: { sql }, processId, plans }: SessionRunsParts,
): Promise<RunningSession> {
  try {
    return await sessionOf(row, plans);
  } catch (error) {
    await disown(sql, row.id, processId);
    throw error;
  }
}

type Outcome = Awaited<ReturnType<SessionRuns['takeOver']>>;

async function join(parts: SessionRunsParts, id: string): Promise<Exclude<Outcome, { owner: CallOwner }>> {
  const { database, processId } = parts;
  const { sql } = database;
  const [row] = await spend(sql, id, processId);
  // A session that is free again now was not at the time of the request.
  return row ? entered(row, parts) : { refused: (await refusalOf(sql, id)) ?? 'used' };
}

/** Whether a session had an owner: in livekit mode the agent waits for the user, so it has one before it is joined. */
const wasHeld = (sql: Sql) =>
  sql`(s.joined_at is not null or s.owner_id is not null or s.lost_at is not null)`;

/** Takes over a joined or held session whose owner is dead. If several processes try, the first changes the row that the others saw. */
const inherit = (sql: Sql, id: string, processId: string) => sql<(Planned & { lastedMs: string | null })[]>`
  with seen as (select id, owner_id from sessions where id = ${id})
  update sessions s set owner_id = ${processId}, lost_at = null from seen
  where s.id = seen.id and s.owner_id is not distinct from seen.owner_id
    and s.ended_at is null and ${wasHeld(sql)}
    and (s.status = 'active' or s.expires_at + ${CALL_TIMES.connectMs}::int * interval '1 millisecond' > now())
    and not exists (select from session_owners o where o.process_id = seen.owner_id)
  returning ${columns(sql)}, s.plan, ${lastedUntilNow(sql)}::text as "lastedMs"`;

async function takeOver(parts: SessionRunsParts, id: string): Promise<Outcome> {
  const { database, node, processId } = parts;
  const { sql } = database;
  const owner = await ownerOf(sql, id);
  if (owner?.alive) return { owner };
  if (owner) await node.dropStale(owner.nodeId);
  const [row] = await inherit(sql, id, processId);
  if (!row) {
    const other = await ownerOf(sql, id);
    return other ? { owner: other } : { refused: (await refusalOf(sql, id)) ?? 'used' };
  }
  const session = await entered(row, parts);
  if (session.record.status !== 'active') return session;
  const [said, last, part] = await Promise.all([itemsOf(sql, id), lastTurn(sql, id), nextPart(sql, id)]);
  const lastedMs = row.lastedMs === null ? {} : { lastedMs: Number(row.lastedMs) };
  return { ...session, ...lastedMs, said, lastTurn: last, part };
}

const LOST_AT_ONCE = 20;

async function lost(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select s.id from sessions s where s.status in ('pending', 'active') and (s.owner_id is not null or s.lost_at is not null)
      and not exists (select from session_owners o where o.process_id = s.owner_id and ${isAlive(sql)})
    order by s.position limit ${LOST_AT_ONCE}`;
  return rows.map(({ id }) => id);
}

async function isLost(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql`
    select from sessions s where s.id = ${id} and s.ended_at is null and s.joined_at is not null
      and not exists (select from session_owners o where o.process_id = s.owner_id and ${isAlive(sql)})`;
  return row !== undefined;
}

const isOwned = async (sql: Sql, id: string, processId: string): Promise<boolean> =>
  (await sql`select from sessions where id = ${id} and owner_id = ${processId} and ended_at is null`).length >
  0;

/**
 * Joins a session, adding it to `owned` first, so that an end right after the join is not missed. If the join is refused,
 * it is removed again, unless another call of this process has won the session meanwhile.
 */
async function joinOwned<Joined extends Outcome>(
  owned: OwnedSessions,
  id: string,
  joining: () => Promise<Joined>,
  isOurs: () => Promise<boolean>,
): Promise<Joined> {
  owned.add(id);
  let keeps = false;
  try {
    const outcome = await joining();
    keeps = 'record' in outcome || (await isOurs());
    if ('record' in outcome && outcome.record.status === 'active')
      owned.begun(id, outcome.plan.maxDurationSeconds, outcome.lastedMs);
    return outcome;
  } finally {
    if (!keeps) owned.delete(id);
  }
}

async function unheld(
  { database: { sql }, plans }: SessionRunsParts,
  id: string,
): Promise<RunningSession | undefined> {
  const [row] = await sql<Planned[]>`
    select ${columns(sql)}, s.plan from sessions s
    where s.id = ${id} and s.status = 'pending' and s.owner_id is null and s.expires_at > now()`;
  return row && sessionOf(row, plans);
}

const own = (sql: Sql, id: string, processId: string) => sql`
  update sessions set owner_id = ${processId} where id = ${id} and status = 'pending'`;

/** Gives a session up: a running one is lost, as if its owner had died; a pending one can be joined again with its token. */
const disown = (sql: Sql, id: string, processId: string) => sql`
  update sessions set owner_id = null,
    joined_at = case when status = 'pending' then null else joined_at end,
    lost_at = case when status = 'active' then now() end
  where id = ${id} and owner_id = ${processId} and ended_at is null`;

async function activate(sql: Sql, id: string, processId: string, owned: OwnedSessions): Promise<boolean> {
  const [row] = await sql<{ seconds: number }[]>`
    update sessions set status = 'active', started_at = date_trunc('milliseconds', now()), measured_ms = 0, measured_at = now()
    where id = ${id} and owner_id = ${processId} and status = 'pending'
    returning max_duration_seconds as seconds`;
  if (row) owned.begun(id, row.seconds);
  return row !== undefined;
}

async function hasEnded(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql`select from sessions where id = ${id} and ended_at is not null`;
  return row !== undefined;
}

async function ownerOf(sql: Sql, id: string): Promise<CallOwner | undefined> {
  const [row] = await sql<CallOwner[]>`
    select o.process_id as "nodeId", o.installation, o.address, o.url, ${isAlive(sql)} as alive
    from sessions s join session_owners o on o.process_id = s.owner_id
    where s.id = ${id} and s.ended_at is null`;
  return row;
}

/** Ends sessions of this process whose calls have outlived their longest duration. */
async function endOwnOverdue(sql: Sql, owned: OwnedSessions, processId: string): Promise<void> {
  for (const id of owned.overdue) {
    await endSession(sql, id, 'timeout', { ownerId: processId, lastedMs: owned.lasted(id) });
    owned.heard(id);
  }
}

/** Writes how long the calls of this process have lasted, for whoever ends or takes them over. */
async function noteLasted(sql: Sql, owned: OwnedSessions, processId: string): Promise<void> {
  const ids = [...owned.keys()].filter((id) => owned.lasted(id) !== null);
  if (ids.length === 0) return;
  const lasted = ids.map((id) => owned.lasted(id));
  await sql`
    update sessions s set measured_ms = n.ms, measured_at = now()
    from unnest(${ids}::text[], ${lasted}::bigint[]) as n (id, ms)
    where s.id = n.id and s.owner_id = ${processId} and s.status = 'active'`;
}

/** Starts the periodic upkeep of a process; failures are logged and retried. */
function startUpkeep(parts: SessionRunsParts, owned: OwnedSessions): (() => void)[] {
  const { database, clock, log, processId, sessionDays } = parts;
  const { sql } = database;
  const every = (ms: number, what: string, work: () => Promise<unknown>) =>
    repeat(clock, ms, work, (error) => log.warn(whyOf(error), what));
  return [
    every(SWEEP_MS, 'could not sweep sessions', () => endOverdue(sql)),
    every(SWEEP_MS, 'could not end overdue sessions', () => endOwnOverdue(sql, owned, processId)),
    every(SWEEP_MS, 'could not note how long calls have lasted', () => noteLasted(sql, owned, processId)),
    every(SWEEP_MS, 'could not keep what was said', () => keepSaid(sql)),
    every(CLEAN_MS, 'could not remove old rows', () => removeOld(sql, sessionDays)),
  ];
}

/** The session runs of one process, which is a node (../nodes.ts). `stop` ends its upkeep. */
export async function createSessionRuns(parts: SessionRunsParts): Promise<SessionRuns & { stop(): void }> {
  const { database, processId, clock, log } = parts;
  const { sql, events } = database;
  const owned = new OwnedSessions(sql, log, clock);
  const owns = (id: string): Promise<boolean> => isOwned(sql, id, processId);
  const stops = [...startUpkeep(parts, owned), await events.listen('session_ends', owned)];

  return {
    join: (id) =>
      joinOwned(
        owned,
        id,
        () => join(parts, id),
        () => owns(id),
      ),
    takeOver: (id) =>
      joinOwned(
        owned,
        id,
        () => takeOver(parts, id),
        () => owns(id),
      ),
    owns,
    lost: () => lost(sql),
    isLost: (id) => isLost(sql, id),
    refusal: (id) => refusalOf(sql, id),
    unheld: (id) => unheld(parts, id),
    async hold(id) {
      owned.add(id);
      await own(sql, id, processId);
    },
    keepRoom: async (id, room) => void (await sql`update sessions set room = ${room} where id = ${id}`),
    async unjoin(id) {
      await disown(sql, id, processId);
      owned.delete(id);
    },
    activate: (id) => activate(sql, id, processId, owned),
    append: (id, items) => appendItems(sql, { id, ownerId: processId }, items),
    keepTurn: (id, turn) => keepTurn(sql, { id, ownerId: processId }, turn),
    end: (id, reason) => endSession(sql, id, reason),
    finish: (id, reason) => endSession(sql, id, reason, { ownerId: processId, lastedMs: owned.lasted(id) }),
    hasEnded: (id) => hasEnded(sql, id),
    owner: (id) => ownerOf(sql, id),
    onEnded: (listener) => owned.onEnded(listener),
    stop() {
      for (const stop of stops) stop();
    },
  };
}
