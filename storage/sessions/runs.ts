/**
 * Sessions as the process sees them that holds their conversations (contracts/ports/sessions.ts `SessionRuns`). A
 * session has at most one owner: joining is one statement, which spends the token. The owner says that it lives, and
 * hears of the end of its sessions by NOTIFY, or finds it in the rows where that was lost.
 */
import { errorText } from '../../contracts/errors.js';
import type { Clock } from '../../contracts/clock.js';
import { CALL_TIMES } from '../../contracts/call-times.js';
import type { Log } from '../../contracts/log.js';
import type { JoinRefusal, SessionPlan, SessionRuns } from '../../contracts/ports/sessions.js';
import { repeat } from '../../contracts/repeat.js';
import { completeConfig } from '../../contracts/schemas/agent-merge.js';
import { completeTool } from '../../contracts/schemas/tools.js';
import type { Database } from '../database.js';
import type { Sql } from '../sql.js';
import { endSession } from './endings.js';
import { OwnedSessions } from './owned-sessions.js';
import { appendItems } from './items.js';
import { columns, recordOf, type Row } from './rows.js';
import { endOverdue, removeOld } from './sweep.js';
import { keepTurn } from './turns.js';

export interface SessionRunsParts {
  readonly database: Pick<Database, 'sql' | 'events'>;
  /** Unique among all live processes. */
  readonly processId: string;
  /** Where this process takes signalling frames of its sessions from others. */
  readonly address: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long sessions are kept after their end; 0, which is the default: for good. */
  readonly sessionDays?: number;
}

const SEEN_MS = CALL_TIMES.ownerMs / 3;
const SWEEP_MS = 5000;
const CLEAN_MS = 60_000;

const sayThatWeLive = (sql: Sql, processId: string, address: string) => sql`
  insert into session_owners (process_id, address) values (${processId}, ${address})
  on conflict (process_id) do update set seen_at = now()`;

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

type Outcome = Awaited<ReturnType<SessionRuns['join']>>;

async function join(sql: Sql, id: string, processId: string): Promise<Outcome> {
  const [row] = await spend(sql, id, processId);
  // One that is free again by now was not when it was asked for.
  if (!row) return { refused: (await refusalOf(sql, id)) ?? 'used' };
  const { plan, ...rest } = row;
  return { record: recordOf(rest), plan: completePlan(plan) };
}

const isOwned = async (sql: Sql, id: string, processId: string): Promise<boolean> =>
  (await sql`select from sessions where id = ${id} and owner_id = ${processId} and ended_at is null`).length >
  0;

/**
 * Joins a session that is noted as ours beforehand, so that an end right behind the join is not missed. Where the join
 * is refused the note is removed, unless another call of this process has won the session meanwhile.
 */
async function joinOwned(
  owned: OwnedSessions,
  id: string,
  joining: () => Promise<Outcome>,
  isOurs: () => Promise<boolean>,
): Promise<Outcome> {
  owned.add(id);
  let keeps = false;
  try {
    const outcome = await joining();
    keeps = !('refused' in outcome) || (await isOurs());
    return outcome;
  } finally {
    if (!keeps) owned.delete(id);
  }
}

const own = (sql: Sql, id: string, processId: string) => sql`
  update sessions set owner_id = ${processId} where id = ${id} and status = 'pending'`;

const disown = (sql: Sql, id: string, processId: string) => sql`
  update sessions set joined_at = null, owner_id = null
  where id = ${id} and owner_id = ${processId} and status = 'pending'`;

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

async function ownerOf(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ address: string }[]>`
    select o.address from sessions s join session_owners o on o.process_id = s.owner_id
    where s.id = ${id} and s.ended_at is null`;
  return row?.address;
}

/** The upkeep that a process repeats for as long as it runs; failures are logged and tried again. */
function startUpkeep(parts: SessionRunsParts): (() => void)[] {
  const { database, processId, address, clock, log, sessionDays } = parts;
  const { sql } = database;
  const every = (ms: number, what: string, work: () => Promise<unknown>) =>
    repeat(clock, ms, work, (error) => log.warn({ reason: errorText(error) }, what));
  return [
    every(SEEN_MS, 'could not say that this process lives', () => sayThatWeLive(sql, processId, address)),
    every(SWEEP_MS, 'could not sweep sessions', () => endOverdue(sql)),
    every(CLEAN_MS, 'could not remove old rows', () => removeOld(sql, sessionDays)),
  ];
}

/** The runs of one process. `stop` ends its work; sessions that it still owns fail once it is missed. */
export async function createSessionRuns(
  parts: SessionRunsParts,
): Promise<SessionRuns & { stop(): Promise<void> }> {
  const { database, processId, address, log } = parts;
  const { sql, events } = database;
  const owned = new OwnedSessions(sql, log);
  await sayThatWeLive(sql, processId, address);
  const stops = [...startUpkeep(parts), await events.listen('session_ends', owned)];

  return {
    join: (id) =>
      joinOwned(
        owned,
        id,
        () => join(sql, id, processId),
        () => isOwned(sql, id, processId),
      ),
    refusal: (id) => refusalOf(sql, id),
    async hold(id) {
      owned.add(id);
      await own(sql, id, processId);
    },
    async unjoin(id) {
      await disown(sql, id, processId);
      owned.delete(id);
    },
    activate: (id) => activate(sql, id, processId),
    append: (id, items) => appendItems(sql, id, items),
    keepTurn: (id, turn) => keepTurn(sql, id, turn),
    end: (id, reason) => endSession(sql, id, reason),
    hasEnded: (id) => hasEnded(sql, id),
    owner: (id) => ownerOf(sql, id),
    onEnded: (listener) => owned.onEnded(listener),
    async stop() {
      for (const stop of stops) stop();
      await sql`delete from session_owners where process_id = ${processId}`.catch((error: unknown) =>
        log.warn({ reason: errorText(error) }, 'could not say that this process has ended'),
      );
    },
  };
}
