/** Sessions as clients read them (docs/contract/platform.md 6.7). */
import type {
  SessionAnalysis,
  SessionDetail,
  SessionItem,
  SessionRecord,
} from '../../../../contracts/ports/sessions/sessions.js';
import { transferBody } from '../../../../contracts/phone/transfers.js';
import { turnBody, usageReport } from '../../../../contracts/sessions/turn-report.js';

const moment = (date: Date | null): string | null => date?.toISOString() ?? null;

export const rowOf = (record: SessionRecord): object => ({
  session_id: record.id,
  agent_id: record.agentId,
  agent_name: record.agentName,
  name: record.name,
  status: record.status,
  source: record.source,
  caller_number: record.callerNumber,
  dialed_number: record.dialedNumber,
  direction: record.direction ?? 'inbound',
  dial_status: record.dialStatus,
  answered_by: record.answeredBy,
  timezone: record.timezone,
  created_at: moment(record.createdAt),
  started_at: moment(record.startedAt),
  ended_at: moment(record.endedAt),
  duration_seconds: record.durationSeconds,
  failed_answers: record.failedAnswers,
  metadata: record.metadata,
});

const toolOf = ({ callId, toolName, toolSource }: Extract<SessionItem, { callId: string }>): object => ({
  call_id: callId,
  tool_name: toolName,
  tool_source: toolSource,
});

const BODIES: { readonly [T in SessionItem['type']]: (item: Extract<SessionItem, { type: T }>) => object } = {
  message: ({ role, content, error, backchannel, background, echo, filler }) => ({
    role,
    content,
    ...(error !== undefined && { error }),
    ...(backchannel === true && { backchannel }),
    ...(background === true && { background }),
    ...(echo === true && { echo }),
    ...(filler === true && { filler }),
  }),
  tool_call: (item) => ({ ...toolOf(item), input: item.input }),
  tool_result: (item) => ({
    ...toolOf(item),
    status: item.status,
    output: item.output,
    output_truncated: item.outputTruncated,
    ...(item.toldTruncated && { told_truncated: true }),
    error: item.error,
    latency_ms: item.latencyMs,
  }),
  'llm.endpoint_error': ({ model, host, error, statusCode, retried }) => ({
    model,
    host,
    error,
    status_code: statusCode,
    retried,
  }),
};

export const itemOf = (item: SessionItem): object => ({
  type: item.type,
  ...(BODIES[item.type] as (item: SessionItem) => object)(item),
  turn_id: item.turnId,
  created_at: moment(item.createdAt),
});

const analysisOf = ({ status, summary, data, criteriaResults, reason }: SessionAnalysis): object => ({
  status,
  summary,
  data,
  criteria_results: criteriaResults,
  reason: reason ?? null,
});

export const entityOf = (session: SessionDetail): object => ({
  ...rowOf(session),
  version_number: session.versionNumber,
  end_user_id: session.endUserId,
  overrides: session.overrides,
  ended_reason: session.endedReason,
  recorded: session.recorded,
  items: session.items.map(itemOf),
  turns: session.turns.map((turn) => ({ ...turnBody(turn), words: turn.words })),
  transfers: session.transfers.map(transferBody),
  ...usageReport(session),
  analysis: session.analysis && analysisOf(session.analysis),
});
