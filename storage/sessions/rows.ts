/** A session's row: the columns that statements select, and its form in the ports. */
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import type { EndedReason, SessionItem, SessionRecord } from '../../contracts/ports/sessions/sessions.js';
import type { DialOutcome } from '../../contracts/phone/phone.js';
import { dialOutcome } from '../../contracts/phone/placed-states.js';
import { RawJson } from '../../contracts/text/raw-json.js';
import type { PlainObject } from '../../contracts/schemas/plain-object.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { ownNumber, personsNumber } from './numbers.js';

export interface Row extends Omit<SessionRecord, 'metadata' | 'overrides' | keyof DialOutcome> {
  /** Null for what is no placed call. */
  readonly dialled: Parameters<typeof dialOutcome>[0] | null;
  readonly position: string;
  readonly metadata: string;
  readonly overrides: string;
}

/** Milliseconds between start and end, for calls of the previous release: those clocks may have been set meanwhile. */
const wallTime = (sql: Sql | Transaction) => sql`
  least(greatest(extract(epoch from s.ended_at - s.started_at) * 1000, 0),
    s.max_duration_seconds * 1000 + ${CALL_TIMES.overtimeMs}::int)`;

/**
 * Milliseconds that a running call has lasted: what its owner measured last, and what the database's clock says since then,
 * which is little unless the clock was set, so it is bounded. Of chats what was measured, since between two messages no time
 * passes. Null for calls of the previous release.
 */
export const lastedUntilNow = (sql: Sql | Transaction) => sql`
  (s.measured_ms + case when s.source = 'chat' then 0 else least(greatest(extract(epoch from clock_timestamp() - s.measured_at) * 1000, 0),
    ${CALL_TIMES.returnMs}::int) end)::bigint`;

/** What sessions tell of their placed call. Needs the sessions as `s`. */
const dialled = (sql: Sql | Transaction) => sql`
  case when s.direction = 'outbound' then (
    select jsonb_build_object('state', c.state, 'isAnswered', c.answered_at is not null, 'answeredBy', c.answered_by)
    from placed_calls c where c.session_id = s.id) end`;

const NOT_DIALLED: DialOutcome = { dialStatus: null, answeredBy: null };

/** Needs the sessions as `s`. */
export const columns = (sql: Sql | Transaction) => sql`
  s.id, s.position::text as position, s.workspace_id as "workspaceId", s.agent_id as "agentId", s.agent_name as "agentName",
  s.version_number as "versionNumber", s.config_hash as "configHash", s.source, s.name, s.end_user_id as "endUserId",
  ${personsNumber(sql)} as "callerNumber", ${ownNumber(sql)} as "dialedNumber", s.direction, s.room, s.timezone, s.metadata, s.overrides, s.status,
  s.created_at as "createdAt", s.expires_at as "expiresAt", s.started_at as "startedAt", s.ended_at as "endedAt",
  s.ended_reason as "endedReason", ${dialled(sql)} as dialled,
  case when s.ended_at is not null and s.started_at is not null
    then floor(coalesce(s.measured_ms, ${wallTime(sql)}) / 1000)::int end as "durationSeconds",
  (select count(*)::int from session_turns t where t.session_id = s.id and t.failed) as "failedAnswers"`;

export const recordOf = (row: Row): SessionRecord => ({
  id: row.id,
  workspaceId: row.workspaceId,
  agentId: row.agentId,
  agentName: row.agentName,
  versionNumber: row.versionNumber,
  configHash: row.configHash,
  source: row.source,
  name: row.name,
  endUserId: row.endUserId,
  callerNumber: row.callerNumber,
  dialedNumber: row.dialedNumber,
  direction: row.direction,
  room: row.room,
  timezone: row.timezone,
  metadata: new RawJson(row.metadata),
  overrides: JSON.parse(row.overrides) as PlainObject,
  status: row.status,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  startedAt: row.startedAt,
  endedAt: row.endedAt,
  durationSeconds: row.durationSeconds,
  endedReason: row.endedReason as EndedReason | null,
  failedAnswers: row.failedAnswers,
  ...(row.dialled ? dialOutcome(row.dialled) : NOT_DIALLED),
});

interface ItemRow {
  readonly type: SessionItem['type'];
  readonly turnId: number;
  readonly createdAt: Date;
  readonly content: string;
}

/** The items by time; at the same time, messages come first, then tool calls, tool results, and what failed. */
export async function itemsOf(sql: Sql | Transaction, sessionId: string): Promise<readonly SessionItem[]> {
  const rows = await sql<ItemRow[]>`
    select type, turn_id as "turnId", created_at as "createdAt", content from (
      select * from session_items where session_id = ${sessionId}
      union all select * from session_events where session_id = ${sessionId}) as lines
    order by created_at, array_position(array['message', 'tool_call', 'tool_result', 'llm.endpoint_error'], type), position`;
  return rows.map(
    ({ content, ...row }) => ({ ...row, ...(JSON.parse(content) as object) }) as unknown as SessionItem,
  );
}
