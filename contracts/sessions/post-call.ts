/** Bodies of post-call events (docs/contract/platform.md 6.8). They contain no transcript and no words of a turn. */
import { LIMITS } from '../limits.js';
import { transferBody } from '../phone/transfers.js';
import type { SessionAnalysis, SessionRecord } from '../ports/sessions/sessions.js';
import type {
  CallAnalyzedEvent,
  CallEndedEvent,
  DialFinishedEvent,
  EventAnalysis,
  EventReport,
  EventSession,
} from '../schemas/post-call.js';
import { RawJson, stringify } from '../text/raw-json.js';
import { type SessionFigures, turnBody, usageReport } from './turn-report.js';

/** What events tell of a session. */
type Told = Pick<
  SessionRecord,
  | 'id'
  | 'agentId'
  | 'agentName'
  | 'configHash'
  | 'source'
  | 'status'
  | 'startedAt'
  | 'endedAt'
  | 'durationSeconds'
  | 'endUserId'
  | 'metadata'
  | 'endedReason'
  | 'failedAnswers'
  | 'direction'
  | 'dialStatus'
  | 'answeredBy'
>;

const sessionOf = (record: Told): EventSession => ({
  id: record.id,
  agent_id: record.agentId,
  branch_id: '',
  source: record.source,
  status: record.status,
  conversation_started_at: record.startedAt?.toISOString() ?? null,
  conversation_ended_at: record.endedAt?.toISOString() ?? null,
  duration_seconds: record.durationSeconds,
  end_user_id: record.endUserId ?? '',
  metadata: record.metadata,
  failed_answers: record.failedAnswers,
  direction: record.direction ?? 'inbound',
  dial_status: record.dialStatus,
  answered_by: record.answeredBy,
  batch_call_id: null,
  agent_name: record.agentName,
  config_hash: record.configHash,
});

/** Only the latest turns, if there are very many. */
const reportOf = (report: SessionFigures): EventReport => ({
  turns: report.turns.slice(-LIMITS.session.deliveredTurns).map(turnBody),
  turns_total: report.turns.length,
  ...(report.transfers && { transfers: report.transfers.map(transferBody) }),
  ...usageReport(report),
});

/**
 * `ended_reason` is an open set: hangup, timeout, ended_by_api, transferred, transport_lost, llm_endpoint_failure,
 * speech_failure, error.
 */
export const endedBody = (
  eventId: string,
  record: Told,
  report: SessionFigures,
  more: { readonly test?: true } = {},
): string =>
  stringify({
    event: 'call.ended',
    event_id: eventId,
    session: sessionOf(record),
    ...more,
    // What has ended has a reason.
    ended_reason: record.endedReason ?? 'error',
    ...reportOf(report),
  } satisfies CallEndedEvent);

const analysisOf = (analysis: SessionAnalysis, finishedAt: Date): EventAnalysis => ({
  status: analysis.status as EventAnalysis['status'],
  summary: analysis.summary,
  data: [...analysis.data],
  criteria_results: [...analysis.criteriaResults],
  finished_at: finishedAt.toISOString(),
  error: analysis.error,
  reason: analysis.reason ?? null,
});

export const analyzedBody = (
  eventId: string,
  record: SessionRecord,
  report: SessionFigures,
  analysis: SessionAnalysis,
  finishedAt: Date,
): string =>
  stringify({
    event: 'call.analyzed',
    event_id: eventId,
    session: sessionOf(record),
    analysis: analysisOf(analysis, finishedAt),
    ...reportOf(report),
  } satisfies CallAnalyzedEvent);

/** How the dialling of a placed call came out, with its session as it is then. */
export const dialFinishedBody = (eventId: string, record: Told): string =>
  stringify({
    event: 'phone_call.dial_finished',
    event_id: eventId,
    // What is settled has a status.
    dial_status: record.dialStatus ?? 'failed',
    answered_by: record.answeredBy,
    session: sessionOf(record),
  } satisfies DialFinishedEvent);

/** The body for a test of a webhook: the end of an invented call of that agent. */
export function testBody(agent: {
  readonly eventId: string;
  readonly id: string;
  readonly name: string;
  readonly configHash: string;
  readonly now: Date;
}): string {
  const record: Told = {
    id: 'sess_test',
    agentId: agent.id,
    agentName: agent.name,
    configHash: agent.configHash,
    source: 'dashboard',
    endUserId: null,
    metadata: new RawJson('{}'),
    status: 'completed',
    startedAt: agent.now,
    endedAt: agent.now,
    durationSeconds: 0,
    endedReason: 'hangup',
    failedAnswers: 0,
    direction: null,
    dialStatus: null,
    answeredBy: null,
  };
  const report = { turns: [], prices: null, durationSeconds: 0 };
  return endedBody(agent.eventId, record, report, { test: true });
}
