/**
 * Sessions as their workspace sees them (contracts/ports/sessions/sessions.ts). Every statement names the workspace, so sessions of
 * others do not exist. Times are the database's, so that all processes agree on them.
 */
import { ServiceError } from '../contracts/errors.js';
import type { Ids } from '../contracts/ids.js';
import type { Prices } from '../contracts/sessions/prices.js';
import { CALL_TIMES } from '../contracts/limits/call-times.js';
import { LIMITS } from '../contracts/limits.js';
import {
  type NewSession,
  type SessionAnalysis,
  type SessionDetail,
  type SessionRecord,
  type Sessions,
} from '../contracts/ports/sessions/sessions.js';
import type { Sql } from './postgres/sql.js';
import { transfersOf } from './phone/phone-transfers.js';
import { listSessions } from './sessions/list.js';
import { type PlanContents, storedPlan } from './plans/plan-contents.js';
import { countLiveOf, removeSession, removeSomeOf } from './sessions/removal.js';
import { columns, itemsOf, recordOf, type Row } from './sessions/rows.js';
import { pricesOf, turnsOf } from './sessions/turns.js';

export interface SessionParts {
  readonly sql: Sql;
  /** For everything that is no record of a call. Default: `sql`. */
  readonly asked?: Sql;
  readonly ids: Ids;
  readonly plans: PlanContents;
  /** Live conversations of a workspace without a limit of its own. */
  readonly defaultLimit: number;
  /** For sessions created from now on. */
  readonly prices?: Prices | undefined;
}

/** `Retry-After` in seconds: another session may have ended then. */
const RETRY_SECONDS = 5;

const tooMany = (): ServiceError => new ServiceError('concurrency_exceeded', { retryAfter: RETRY_SECONDS });

/** Previews and tests, which run even if their agent is archived or deleted: their plan is complete. */
const needsNoAgent = ({ source }: NewSession): boolean => source === 'dashboard';

/** Why no session was made. */
async function refusal(sql: Sql, session: NewSession): Promise<ServiceError> {
  if (needsNoAgent(session)) return tooMany();
  const [agent] = await sql<{ status: string }[]>`
    select status from agents where id = ${session.agentId} and workspace_id = ${session.workspaceId}`;
  if (!agent) return new ServiceError('not_found', { message: 'Agent not found' });
  return agent.status === 'archived'
    ? new ServiceError('conflict', { message: 'Agent is archived' })
    : tooMany();
}

/**
 * Locks the agent until the session exists: archiving or deleting it at the same time either waits and then ends the
 * session, or comes first. Public sessions that nobody joins take no slot from sessions with a key.
 */
async function insert(
  { sql, ids, plans, defaultLimit, prices }: SessionParts,
  session: NewSession,
): Promise<SessionRecord> {
  const { plan, agentId, workspaceId, leg } = session;
  await plans.keep(plan, { agentId, workspaceId });
  const [row] = await sql<Row[]>`
    with agent as (
      select from agents where id = ${agentId} and workspace_id = ${workspaceId} and status = 'active'
      for key share
    ), live as (
      select count(*) filter (where status = 'active') as active,
        count(*) filter (where status = 'pending' and (source = 'public') = ${session.source === 'public'}) as pending
      from sessions where workspace_id = ${workspaceId} and status in ('pending', 'active')
    ), s as (
      insert into sessions (
        id, workspace_id, agent_id, agent_name, version_number, config_hash, source, name, end_user_id, caller_number,
        dialed_number, direction, timezone, metadata, overrides, plan, prices, max_duration_seconds, created_at, expires_at)
      select ${ids.next('session')}, w.id, ${agentId}, ${session.agentName}, ${session.versionNumber},
        ${plan.configHash}, ${session.source}, ${session.name}, ${session.endUserId}, ${leg?.callerNumber ?? null},
        ${leg?.dialedNumber ?? null}, ${leg?.direction ?? null}, ${plan.timezone},
        ${session.metadata.text}, ${JSON.stringify(session.overrides)}, ${sql.json(storedPlan(plan) as never)},
        ${prices ? JSON.stringify(prices) : null},
        ${plan.maxDurationSeconds}, date_trunc('milliseconds', now()),
        date_trunc('milliseconds', now()) + ${session.joinMs ?? CALL_TIMES.joinWindowMs}::int * interval '1 millisecond'
      from workspaces w, live
      where w.id = ${workspaceId} and live.active < coalesce(w.concurrency, ${defaultLimit})
        and live.pending < ${LIMITS.session.pending} and (${needsNoAgent(session)} or exists (select from agent))
      returning *
    )
    select ${columns(sql)} from s`;
  if (!row) throw await refusal(sql, session);
  return recordOf(row);
}

async function read(sql: Sql, id: string, workspaceId: string): Promise<SessionDetail | undefined> {
  const [row] = await sql<(Row & { analysis: string | null; prices: string | null; recorded: boolean })[]>`
    select ${columns(sql)}, s.analysis, s.prices,
      exists (select from recording_parts p where p.session_id = s.id) as recorded
    from sessions s where s.id = ${id} and s.workspace_id = ${workspaceId}`;
  if (!row) return undefined;
  const analysis = row.analysis === null ? null : (JSON.parse(row.analysis) as SessionAnalysis);
  const [items, turns] = [await itemsOf(sql, id), await turnsOf(sql, id)];
  const transfers = row.source === 'phone' ? await transfersOf(sql, id) : [];
  return {
    ...{ ...recordOf(row), items, turns, transfers, prices: pricesOf(row.prices), analysis },
    recorded: row.recorded,
  };
}

const has = async (sql: Sql, id: string, workspaceId: string): Promise<boolean> =>
  (await sql`select from sessions where id = ${id} and workspace_id = ${workspaceId}`).length > 0;

export function createSessions(parts: SessionParts): Sessions {
  const { asked = parts.sql } = parts;
  return {
    create: (session) => insert(parts, session),
    list: (workspaceId, filter, page) => listSessions(asked, { workspaceId, filter }, page),
    read: (id, workspaceId) => read(asked, id, workspaceId),
    has: (id, workspaceId) => has(asked, id, workspaceId),
    remove: (id, workspaceId) => removeSession(asked, id, workspaceId),
    removeSomeOf: (endUserId, workspaceId) => removeSomeOf(asked, { endUserId }, workspaceId),
    countLiveOf: (endUserId, workspaceId) => countLiveOf(asked, { endUserId }, workspaceId),
  };
}
