/**
 * Sessions as their workspace sees them (contracts/ports/sessions/sessions.ts). Every statement names the workspace, so sessions of
 * others do not exist. Times are the database's, so that all processes agree on them.
 */
import { tooManyCalls } from '../contracts/admission/call-places.js';
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
import type { Fragment, Sql, Transaction } from './postgres/sql.js';
import { transfersOf } from './phone/phone-transfers.js';
import { callIsLeft, hasCallLeft, withCallPlace, withChatPlace } from './sessions/call-places.js';
import { listSessions } from './sessions/list.js';
import { numberColumns } from './sessions/numbers.js';
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
  /** Calls at once of a workspace without a number of its own; null: any number. */
  readonly callsPerWorkspace: number | null;
  /** For sessions created from now on. */
  readonly prices?: Prices | undefined;
}

/** `Retry-After` in seconds: another session may have been joined then, or is given up. */
const RETRY_SECONDS = 5;

const tooManyPending = (): ServiceError =>
  new ServiceError('concurrency_exceeded', { retryAfter: RETRY_SECONDS });

/** There is no place for it. */
const tooMany = ({ source }: NewSession): ServiceError =>
  source === 'chat'
    ? new ServiceError('concurrency_exceeded', {
        message: 'This workspace has as many chats at once as it may',
        retryAfter: RETRY_SECONDS,
      })
    : tooManyCalls();

/** Previews and tests, which run even if their agent is archived or deleted: their plan is complete. */
const needsNoAgent = ({ source }: NewSession): boolean => source === 'dashboard';

/** Why no session was made: the agent, else `full`. */
async function refusal(sql: Sql, session: NewSession, full: ServiceError): Promise<ServiceError> {
  if (needsNoAgent(session)) return full;
  const [agent] = await sql<{ status: string }[]>`
    select status from agents where id = ${session.agentId} and workspace_id = ${session.workspaceId}`;
  if (!agent) return new ServiceError('not_found', { message: 'Agent not found' });
  return agent.status === 'archived' ? new ServiceError('conflict', { message: 'Agent is archived' }) : full;
}

/**
 * Locks the agent until the session exists: archiving or deleting it at the same time either waits and then ends the
 * session, or comes first. Public sessions that nobody joins keep no other session from waiting.
 */
const insertion = (
  sql: Sql | Transaction,
  { ids, prices }: SessionParts,
  session: NewSession,
  mayBegin: Fragment = sql`true`,
): Promise<Row[]> => {
  const { plan, agentId, workspaceId, leg, reserved = false } = session;
  const { caller, dialled, direction } = numberColumns(leg);
  return sql<Row[]>`
    with agent as (
      select from agents where id = ${agentId} and workspace_id = ${workspaceId} and status = 'active'
      for key share
    ), waiting as (
      select count(*) as sessions from sessions
      where workspace_id = ${workspaceId} and status = 'pending' and (source = 'public') = ${session.source === 'public'}
    ), s as (
      insert into sessions (
        id, workspace_id, agent_id, agent_name, version_number, config_hash, source, name, end_user_id, caller_number,
        dialed_number, direction, timezone, metadata, overrides, plan, prices, max_duration_seconds, reserved, created_at,
        expires_at)
      select ${session.id ?? ids.next('session')}, w.id, ${agentId}, ${session.agentName}, ${session.versionNumber},
        ${plan.configHash}, ${session.source}, ${session.name}, ${session.endUserId}, ${caller},
        ${dialled}, ${direction}, ${plan.timezone},
        ${session.metadata.text}, ${JSON.stringify(session.overrides)}, ${sql.json(storedPlan(plan) as never)},
        ${prices ? JSON.stringify(prices) : null},
        ${plan.maxDurationSeconds}, ${reserved}, date_trunc('milliseconds', now()),
        date_trunc('milliseconds', now()) + ${session.joinMs ?? CALL_TIMES.joinWindowMs}::int * interval '1 millisecond'
      from workspaces w, waiting
      where w.id = ${workspaceId}
        and waiting.sessions < ${LIMITS.session.pending} and (${needsNoAgent(session)} or exists (select from agent))
        and ${mayBegin}
      returning *
    )
    select ${columns(sql)} from s`;
};

/** The new row, none if its agent or the number of waiting sessions forbids it; undefined if there is no place for its call. */
async function inserted(parts: SessionParts, session: NewSession): Promise<readonly Row[] | undefined> {
  const { sql, callsPerWorkspace: most } = parts;
  const { workspaceId, reserved, source } = session;
  if (source === 'chat') return withChatPlace(sql, workspaceId, (tx) => insertion(tx, parts, session));
  if (reserved) return withCallPlace(sql, workspaceId, most, (tx) => insertion(tx, parts, session));
  // Not the last word: it gets its place when it is joined.
  const rows = await insertion(sql, parts, session, callIsLeft(sql, workspaceId, most));
  return rows.length > 0 || (await hasCallLeft(sql, workspaceId, most)) ? rows : undefined;
}

async function insert(parts: SessionParts, session: NewSession): Promise<SessionRecord> {
  const { plan, agentId, workspaceId } = session;
  await parts.plans.keep(plan, { agentId, workspaceId });
  const rows = await inserted(parts, session);
  const [row] = rows ?? [];
  if (!row) throw await refusal(parts.sql, session, rows ? tooManyPending() : tooMany(session));
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
    ...recordOf(row),
    items,
    turns,
    transfers,
    prices: pricesOf(row.prices),
    analysis,
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
