/**
 * Sessions as the process sees them that holds their conversations (contracts/ports/sessions.ts `SessionRuns`). A
 * session has at most one owner: joining is one statement, which spends the token. The owner says that it lives, and
 * hears of the end of its sessions by NOTIFY, or finds it in the rows where that was lost.
 */
import { errorText } from '../../contracts/errors.js';
import type { Clock } from '../../contracts/clock.js';
import { CALL_TIMES } from '../../contracts/call-times.js';
import type { Log } from '../../contracts/log.js';
import type {
  CallOwner,
  JoinRefusal,
  RunningSession,
  SessionPlan,
  SessionRuns,
} from '../../contracts/ports/sessions.js';
import { repeat } from '../../contracts/repeat.js';
import { completeConfig } from '../../contracts/schemas/agent-merge.js';
import { completeTool } from '../../contracts/schemas/tools.js';
import type { Database } from '../database.js';
import type { Sql } from '../sql.js';
import { nextPart } from '../recordings.js';
import { endSession } from './endings.js';
import { dropStale, isAlive } from '../nodes.js';
import { OwnedSessions } from './owned-sessions.js';
import { appendItems } from './items.js';
import { columns, itemsOf, recordOf, type Row } from './rows.js';
import { keepSaid } from './said.js';
import { endOverdue, removeOld } from './sweep.js';
import { keepTurn, lastTurn } from './turns.js';

export interface SessionRunsParts {
  readonly database: Pick<Database, 'sql' | 'events'>;
  /** Unique among all live processes. */
  readonly processId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long sessions are kept after their end; 0, which is the default: for good. */
  readonly sessionDays?: number;
}

const SWEEP_MS = 5000;
const CLEAN_MS = 60_000;

const spend = (sql: Sql, id: string, processId: string) => sql<(Row & { plan: SessionPlan })[]>`
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

/** The plan of a session that another version of the gateway has made, with defaults for what is newer than it. */
const completePlan = (plan: SessionPlan): SessionPlan => ({
  ...plan,
  config: completeConfig(plan.config),
  tools: plan.tools.map((tool) => ({ ...tool, definition: completeTool(tool.definition) })),
});

const sessionOf = ({ plan, ...row }: Row & { readonly plan: SessionPlan }): RunningSession => ({
  record: recordOf(row),
  plan: completePlan(plan),
});

type Outcome = Awaited<ReturnType<SessionRuns['takeOver']>>;

async function join(
  sql: Sql,
  id: string,
  processId: string,
): Promise<Exclude<Outcome, { owner: CallOwner }>> {
  const [row] = await spend(sql, id, processId);
  // One that is free again by now was not when it was asked for.
  return row ? sessionOf(row) : { refused: (await refusalOf(sql, id)) ?? 'used' };
}

/** In livekit mode an agent waits for the user: its session is held before it is joined. */
const wasHeld = (sql: Sql) =>
  sql`(s.joined_at is not null or s.owner_id is not null or s.lost_at is not null)`;

/** One that was joined or held and has no owner among the living: of several who see that, the first changes what the others saw. */
const inherit = (sql: Sql, id: string, processId: string) => sql<(Row & { plan: SessionPlan })[]>`
  with seen as (select id, owner_id from sessions where id = ${id})
  update sessions s set owner_id = ${processId}, lost_at = null from seen
  where s.id = seen.id and s.owner_id is not distinct from seen.owner_id
    and s.ended_at is null and ${wasHeld(sql)}
    and (s.status = 'active' or s.expires_at + ${CALL_TIMES.connectMs}::int * interval '1 millisecond' > now())
    and not exists (select from session_owners o where o.process_id = seen.owner_id)
  returning ${columns(sql)}, s.plan`;

async function takeOver(sql: Sql, id: string, processId: string): Promise<Outcome> {
  const owner = await ownerOf(sql, id);
  if (owner?.alive) return { owner };
  if (owner) await dropStale(sql, owner.nodeId);
  const [row] = await inherit(sql, id, processId);
  if (!row) {
    const other = await ownerOf(sql, id);
    return other ? { owner: other } : { refused: (await refusalOf(sql, id)) ?? 'used' };
  }
  const session = sessionOf(row);
  if (session.record.status !== 'active') return session;
  const [said, last, part] = await Promise.all([itemsOf(sql, id), lastTurn(sql, id), nextPart(sql, id)]);
  return { ...session, said, lastTurn: last, part };
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
 * Joins a session that is noted as ours beforehand, so that an end right behind the join is not missed. Where the join
 * is refused the note is removed, unless another call of this process has won the session meanwhile.
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
    return outcome;
  } finally {
    if (!keeps) owned.delete(id);
  }
}

async function unheld(sql: Sql, id: string): Promise<RunningSession | undefined> {
  const [row] = await sql<(Row & { plan: SessionPlan })[]>`
    select ${columns(sql)}, s.plan from sessions s
    where s.id = ${id} and s.status = 'pending' and s.owner_id is null and s.expires_at > now()`;
  return row && sessionOf(row);
}

const own = (sql: Sql, id: string, processId: string) => sql`
  update sessions set owner_id = ${processId} where id = ${id} and status = 'pending'`;

/** One that has begun is lost, as if its owner had died; of any other the token goes back. */
const disown = (sql: Sql, id: string, processId: string) => sql`
  update sessions set owner_id = null,
    joined_at = case when status = 'pending' then null else joined_at end,
    lost_at = case when status = 'active' then now() end
  where id = ${id} and owner_id = ${processId} and ended_at is null`;

async function activate(sql: Sql, id: string, processId: string): Promise<boolean> {
  const { count } = await sql`
    update sessions set status = 'active', started_at = date_trunc('milliseconds', now())
    where id = ${id} and owner_id = ${processId} and status = 'pending'`;
  return count === 1;
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

/** The upkeep that a process repeats for as long as it runs; failures are logged and tried again. */
function startUpkeep(parts: SessionRunsParts): (() => void)[] {
  const { database, clock, log, sessionDays } = parts;
  const { sql } = database;
  const every = (ms: number, what: string, work: () => Promise<unknown>) =>
    repeat(clock, ms, work, (error) => log.warn({ reason: errorText(error) }, what));
  return [
    every(SWEEP_MS, 'could not sweep sessions', () => endOverdue(sql)),
    every(SWEEP_MS, 'could not keep what was said', () => keepSaid(sql)),
    every(CLEAN_MS, 'could not remove old rows', () => removeOld(sql, sessionDays)),
  ];
}

/** The runs of one process, which is a node (../nodes.ts). `stop` ends its work. */
export async function createSessionRuns(parts: SessionRunsParts): Promise<SessionRuns & { stop(): void }> {
  const { database, processId, log } = parts;
  const { sql, events } = database;
  const owned = new OwnedSessions(sql, log);
  const owns = (id: string): Promise<boolean> => isOwned(sql, id, processId);
  const stops = [...startUpkeep(parts), await events.listen('session_ends', owned)];

  return {
    join: (id) =>
      joinOwned(
        owned,
        id,
        () => join(sql, id, processId),
        () => owns(id),
      ),
    takeOver: (id) =>
      joinOwned(
        owned,
        id,
        () => takeOver(sql, id, processId),
        () => owns(id),
      ),
    owns,
    lost: () => lost(sql),
    isLost: (id) => isLost(sql, id),
    refusal: (id) => refusalOf(sql, id),
    unheld: (id) => unheld(sql, id),
    async hold(id) {
      owned.add(id);
      await own(sql, id, processId);
    },
    keepRoom: async (id, room) => void (await sql`update sessions set room = ${room} where id = ${id}`),
    async unjoin(id) {
      await disown(sql, id, processId);
      owned.delete(id);
    },
    activate: (id) => activate(sql, id, processId),
    append: (id, items) => appendItems(sql, { id, ownerId: processId }, items),
    keepTurn: (id, turn) => keepTurn(sql, { id, ownerId: processId }, turn),
    end: (id, reason) => endSession(sql, id, reason),
    finish: (id, reason) => endSession(sql, id, reason, { ownerId: processId }),
    hasEnded: (id) => hasEnded(sql, id),
    owner: (id) => ownerOf(sql, id),
    onEnded: (listener) => owned.onEnded(listener),
    stop() {
      for (const stop of stops) stop();
    },
  };
}
