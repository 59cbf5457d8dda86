/**
 * Sessions as their owner sees them, the process that holds their conversations (contracts/ports/sessions/sessions.ts
 * `SessionRuns`). A session is leased by at most one process, its owner: joining is one statement, which spends the token. The owner
 * renews its leases by heartbeats (../nodes.ts), and learns the end of its sessions by NOTIFY, or from the rows if that was lost. Which
 * states a statement changes is read from the lifecycle (contracts/sessions/session-states.ts).
 */
import { whyOf } from '../../contracts/errors.js';
import type { Clock } from '../../contracts/clock.js';
import { target } from '../../contracts/lifecycle.js';
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import type { Log } from '../../contracts/log.js';
import type {
  CallOwner,
  JoinRefusal,
  RunningSession,
  SessionRuns,
} from '../../contracts/ports/sessions/sessions.js';
import {
  answeringSession,
  CONVERSING,
  SESSION,
  UNCONNECTED,
} from '../../contracts/sessions/session-states.js';
import { repeat } from '../../contracts/time/repeat.js';
import type { Database } from '../postgres/database.js';
import type { PlanContents, StoredPlan } from '../plans/plan-contents.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { tellSettled } from '../phone/dial-events.js';
import { nextPart } from '../recordings.js';
import { endSession } from './endings.js';
import { isAlive, type OwnNode } from '../nodes.js';
import { hasCallLeft, withCallPlace } from './call-places.js';
import type { Owned } from './owned.js';
import { OwnedSessions } from './owned-sessions.js';
import { appendItems } from './items.js';
import { columns, itemsOf, lastedUntilNow, recordOf, type Row } from './rows.js';
import { keepSaid } from './said.js';
import { isIn, isLive } from './states.js';
import { endOverdue, type KeptDays, removeOld } from './sweep.js';
import { keepTurn, lastTurn } from './turns.js';

export interface SessionRunsParts {
  readonly database: Pick<Database, 'sql' | 'events'>;
  /** Unique among all live processes. */
  readonly processId: string;
  /** `shared`: what all processes repeat, few of them do often. Default: each does. */
  readonly node: Pick<OwnNode, 'dropStale'> & Partial<Pick<OwnNode, 'shared'>>;
  readonly plans: PlanContents;
  readonly clock: Clock;
  readonly log: Log;
  /** Calls at once of a workspace without a number of its own. Default: null, any number. */
  readonly callsPerWorkspace?: number | null;
  readonly keptDays?: KeptDays;
}

export const SWEEP_MS = 5000;
export const CLEAN_MS = 60_000;

const spend = (sql: Sql | Transaction, id: string, processId: string) => sql<Planned[]>`
  update sessions s set joined_at = now(), owner_id = ${processId}, lost_at = null
  where s.id = ${id} and ${isIn(sql, answeringSession('joined'))} and s.expires_at > now()
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
    await release(sql, row.id, processId);
    throw error;
  }
}

/** The workspace in which a session has to get a place once it is joined; undefined if it has one, needs none, or does not exist. */
async function placedBy(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId" from sessions s
    where s.id = ${id} and ${isIn(sql, UNCONNECTED)} and not s.reserved and s.source <> 'chat'`;
  return row?.workspaceId;
}

/** Why it cannot be joined now; undefined if it can. */
async function refusalNow(
  { database: { sql }, callsPerWorkspace = null }: SessionRunsParts,
  id: string,
): Promise<JoinRefusal | undefined> {
  const refused = await refusalOf(sql, id);
  const workspaceId = refused ? undefined : await placedBy(sql, id);
  if (workspaceId === undefined) return refused;
  return (await hasCallLeft(sql, workspaceId, callsPerWorkspace)) ? undefined : 'full';
}

/** Spends the token, with a place for the call. No row if it cannot be joined; undefined if there is no place. */
async function spendWithPlace(
  { database: { sql }, processId, callsPerWorkspace = null }: SessionRunsParts,
  id: string,
): Promise<readonly Planned[] | undefined> {
  const workspaceId = await placedBy(sql, id);
  if (workspaceId === undefined) return spend(sql, id, processId);
  return withCallPlace(sql, workspaceId, callsPerWorkspace, (tx) => spend(tx, id, processId));
}

type Outcome = Awaited<ReturnType<SessionRuns['takeOver']>>;

async function join(parts: SessionRunsParts, id: string): Promise<Exclude<Outcome, { owner: CallOwner }>> {
  const rows = await spendWithPlace(parts, id);
  const [row] = rows ?? [];
  if (row) return entered(row, parts);
  // A session that is free again now was not at the time of the request.
  return { refused: (await refusalOf(parts.database.sql, id)) ?? (rows ? 'used' : 'full') };
}

/** Whether it ever had an owner: in livekit mode the agent waits for the user, so it has one before it is joined. */
const hadOwner = (sql: Sql) =>
  sql`(s.joined_at is not null or s.owner_id is not null or s.lost_at is not null)`;

const hasLiveOwner = (sql: Sql) =>
  sql`exists (select from session_owners o where o.process_id = s.owner_id and ${isAlive(sql)})`;

/** Takes over the lease of an owner that is dead. If several processes try, the first changes the row that the others saw. */
const takeLease = (sql: Sql, id: string, processId: string) => sql<(Planned & { lastedMs: string | null })[]>`
  with seen as (select id, owner_id from sessions where id = ${id})
  update sessions s set owner_id = ${processId}, lost_at = null from seen
  where s.id = seen.id and s.owner_id is not distinct from seen.owner_id
    and ${isIn(sql, answeringSession('taken_over'))} and ${hadOwner(sql)}
    and (s.status = 'active' or s.expires_at + ${CALL_TIMES.connectMs}::int * interval '1 millisecond' > now())
    and not exists (select from session_owners o where o.process_id = seen.owner_id)
  returning ${columns(sql)}, s.plan, ${lastedUntilNow(sql)}::text as "lastedMs"`;

async function takeOver(parts: SessionRunsParts, id: string): Promise<Outcome> {
  const { database, node, processId } = parts;
  const { sql } = database;
  const owner = await ownerOf(sql, id);
  if (owner?.alive) return { owner };
  if (owner) await node.dropStale(owner.nodeId);
  const [row] = await takeLease(sql, id, processId);
  if (!row) {
    const other = await ownerOf(sql, id);
    return other ? { owner: other } : { refused: (await refusalOf(sql, id)) ?? 'used' };
  }
  const session = await entered(row, parts);
  if (session.record.status !== 'active') return session;
  const [said, last, part] = await Promise.all([itemsOf(sql, id), lastTurn(sql, id), nextPart(sql, id)]);
  const lastedMs = row.lastedMs === null ? {} : { lastedMs: Number(row.lastedMs) };
  return { ...session, ...lastedMs, said, ...last, part };
}

const LOST_AT_ONCE = 20;

async function lost(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select s.id from sessions s where ${isLive(sql)} and (s.owner_id is not null or s.lost_at is not null)
      and s.source <> 'chat' and not ${hasLiveOwner(sql)}
    order by s.position limit ${LOST_AT_ONCE}`;
  return rows.map(({ id }) => id);
}

async function isLost(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql`
    select from sessions s
    where s.id = ${id} and ${isLive(sql)} and s.joined_at is not null and not ${hasLiveOwner(sql)}`;
  return row !== undefined;
}

const isOwner = async (sql: Sql, id: string, processId: string): Promise<boolean> =>
  (await sql`select from sessions s where s.id = ${id} and s.owner_id = ${processId} and ${isLive(sql)}`)
    .length > 0;

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

async function unowned(
  { database: { sql }, plans }: SessionRunsParts,
  id: string,
): Promise<RunningSession | undefined> {
  const [row] = await sql<Planned[]>`
    select ${columns(sql)}, s.plan from sessions s
    where s.id = ${id} and ${isIn(sql, answeringSession('leased'))} and s.owner_id is null and s.expires_at > now()`;
  return row && sessionOf(row, plans);
}

const lease = (sql: Sql, id: string, processId: string) => sql`
  update sessions s set owner_id = ${processId}, lost_at = null
  where s.id = ${id} and ${isIn(sql, answeringSession('leased'))}`;

/** A conversation is lost then, as if its owner had died; before it, the session can be joined again with its token. */
const release = (sql: Sql, id: string, processId: string) => sql`
  update sessions s set owner_id = null,
    joined_at = case when ${isIn(sql, CONVERSING)} then s.joined_at end,
    lost_at = case when ${isIn(sql, CONVERSING)} then now() end
  where s.id = ${id} and s.owner_id = ${processId} and ${isIn(sql, answeringSession('released'))}`;

/** From its last measurement on, a chat is idle (sweep.ts). */
const park = (sql: Sql, { id, ownerId }: Owned, lastedMs: number | null) => sql`
  update sessions s set owner_id = null, lost_at = null,
    measured_ms = coalesce(${lastedMs}::bigint, s.measured_ms), measured_at = now()
  where s.id = ${id} and s.owner_id = ${ownerId} and ${isIn(sql, answeringSession('parked'))}`;

async function activate(parts: SessionRunsParts, id: string, owned: OwnedSessions): Promise<boolean> {
  const { database, processId, log } = parts;
  const { sql } = database;
  const [row] = await sql<{ seconds: number; direction: string | null }[]>`
    update sessions s set status = ${target(SESSION, 'connected')}, started_at = date_trunc('milliseconds', now()),
      measured_ms = 0, measured_at = now()
    where s.id = ${id} and s.owner_id = ${processId} and ${isIn(sql, answeringSession('connected'))}
    returning max_duration_seconds as seconds, direction`;
  if (row) owned.begun(id, row.seconds);
  // The call goes on without: its end tells it, too.
  if (row?.direction === 'outbound')
    await tellSettled(sql, id).catch((error: unknown) =>
      log.warn({ ...whyOf(error), sessionId: id }, 'could not tell webhooks that a placed call was answered'),
    );
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
    where s.id = ${id} and ${isLive(sql)}`;
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
  const { database, clock, log, processId, node, keptDays } = parts;
  const { sql } = database;
  const shared = (work: () => Promise<unknown>) => node.shared?.(work) ?? work;
  const every = (ms: number, what: string, work: () => Promise<unknown>) =>
    repeat(clock, ms, work, (error) => log.warn(whyOf(error), what));
  return [
    every(
      SWEEP_MS,
      'could not sweep sessions',
      shared(() => endOverdue(sql)),
    ),
    every(SWEEP_MS, 'could not end overdue sessions', () => endOwnOverdue(sql, owned, processId)),
    every(SWEEP_MS, 'could not note how long calls have lasted', () => noteLasted(sql, owned, processId)),
    every(SWEEP_MS, 'could not keep what was said', () => keepSaid(sql)),
    every(
      CLEAN_MS,
      'could not remove old rows',
      shared(() => removeOld(sql, keptDays)),
    ),
  ];
}

/** The session runs of one process, which is a node (../nodes.ts). `stop` ends its upkeep. */
export async function createSessionRuns(parts: SessionRunsParts): Promise<SessionRuns & { stop(): void }> {
  const { database, processId, clock, log } = parts;
  const { sql, events } = database;
  const owned = new OwnedSessions(sql, log, clock);
  const isOurs = (id: string): Promise<boolean> => isOwner(sql, id, processId);
  const stops = [...startUpkeep(parts, owned), await events.listen('session_ends', owned)];

  return {
    join: (id) =>
      joinOwned(
        owned,
        id,
        () => join(parts, id),
        () => isOurs(id),
      ),
    takeOver: (id) =>
      joinOwned(
        owned,
        id,
        () => takeOver(parts, id),
        () => isOurs(id),
      ),
    isOwner: isOurs,
    lost: () => lost(sql),
    isLost: (id) => isLost(sql, id),
    refusal: (id) => refusalNow(parts, id),
    unowned: (id) => unowned(parts, id),
    async lease(id) {
      owned.add(id);
      await lease(sql, id, processId);
    },
    keepRoom: async (id, room) => void (await sql`update sessions set room = ${room} where id = ${id}`),
    async release(id) {
      await release(sql, id, processId);
      owned.delete(id);
    },
    async park(id) {
      await park(sql, { id, ownerId: processId }, owned.lasted(id));
      owned.delete(id);
    },
    activate: (id) => activate(parts, id, owned),
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
