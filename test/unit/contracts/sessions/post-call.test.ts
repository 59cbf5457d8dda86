/** What webhooks are told of a call (docs/contract/platform.md 6.7, 6.8, 6.14 and 6.15): every field, and no words. */
import t from '../../../fixtures/tap.js';
import { Compile } from 'typebox/compile';
import { LIMITS } from '../../../../contracts/limits.js';
import { placedCallEnded } from '../../../../contracts/phone/placed-call.js';
import type { PlacedCall } from '../../../../contracts/ports/phone/placed-calls.js';
import type { SessionAnalysis, SessionRecord } from '../../../../contracts/ports/sessions/sessions.js';
import {
  analyzedBody,
  dialFinishedBody,
  endedBody,
  testBody,
} from '../../../../contracts/sessions/post-call.js';
import { EVENT_BODIES } from '../../../../contracts/schemas/post-call.js';
import { RawJson } from '../../../../contracts/text/raw-json.js';
import type { Transfer } from '../../../../contracts/phone/transfers.js';
import type { SessionFigures } from '../../../../contracts/sessions/turn-report.js';
import { NO_USAGE, type Turn } from '../../../../contracts/sessions/turns.js';
import { exactly } from '../../../fixtures/exactly.js';

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 12, 0, second));
const ID = 'evt_1';
const METADATA = '{ "order": 12345678901234567890 }';

const record: SessionRecord = {
  id: 'sess_1',
  workspaceId: 'ws_1',
  agentId: 'agent_1',
  agentName: 'Bakery',
  versionNumber: 3,
  configHash: 'sha256:00',
  source: 'phone',
  name: 'a name',
  endUserId: 'ada',
  callerNumber: '+493012345678',
  dialedNumber: '+493087654321',
  direction: 'inbound',
  room: null,
  timezone: 'UTC',
  metadata: new RawJson(METADATA),
  overrides: {},
  status: 'completed',
  createdAt: at(0),
  expiresAt: at(50),
  startedAt: at(1),
  endedAt: at(31),
  durationSeconds: 30,
  endedReason: 'hangup',
  failedAnswers: 2,
  dialStatus: null,
  answeredBy: null,
};

const SESSION = {
  id: 'sess_1',
  agent_id: 'agent_1',
  branch_id: '',
  source: 'phone',
  status: 'completed',
  conversation_started_at: '2026-01-01T12:00:01.000Z',
  conversation_ended_at: '2026-01-01T12:00:31.000Z',
  duration_seconds: 30,
  failed_answers: 2,
  direction: 'inbound',
  dial_status: null,
  answered_by: null,
  batch_call_id: null,
  end_user_id: 'ada',
  metadata: JSON.parse(METADATA) as unknown,
  agent_name: 'Bakery',
  config_hash: 'sha256:00',
};

const turn: Turn = {
  number: 1,
  turnId: 7,
  cause: 'turn',
  at: at(2),
  words: 'the words of the caller',
  language: 'de',
  endOfTurn: { detector: 'both', probability: 0.9, completeness: 'likely', delayMs: 400 },
  reopened: 1,
  firstTranscriptMs: -400,
  lastTranscriptMs: 700,
  decidedMs: 800,
  requests: [{ askedMs: 810, firstTokenMs: 1000, endedMs: null }],
  passages: [{ sourceId: 'ks_a', source: 'Hours', by: 'both' }],
  tools: [{ callId: 'call_a', toolName: 'look_up', startedMs: 820, endedMs: 900, failed: true }],
  firstAudioMs: 1150,
  playedMs: 1200,
  parts: {
    silence: 256,
    endpointing: 400,
    recognition: 144,
    waiting: 10,
    model: 190,
    tools: 80,
    voice: 70,
    transport: 50,
  },
  endedMs: 4000,
  heardMs: 2800,
  complete: false,
  held: 2,
  resumed: 3,
  interrupted: { by: 'words', silenceMs: 90, mistaken: true },
  drafted: true,
  draftsDiscarded: 4,
  error: 'engine_failed',
  usage: {
    inputTokens: 100,
    outputTokens: 20,
    tokensEstimated: true,
    models: [{ model: 'm', inputTokens: 100, outputTokens: 20 }],
    characters: 60,
    recognisedMs: 1500,
    engines: [{ engine: 'tone', model: 't', characters: 60, spokenMs: 2500, recognisedMs: 1500 }],
  },
};

const USAGE = {
  input_tokens: 100,
  output_tokens: 20,
  tokens_estimated: true,
  models: [{ model: 'm', input_tokens: 100, output_tokens: 20 }],
  characters: 60,
  recognised_seconds: 1.5,
  engines: [{ engine: 'tone', model: 't', characters: 60, speech_seconds: 2.5, recognised_seconds: 1.5 }],
};

const TURN = {
  number: 1,
  turn_id: 7,
  cause: 'turn',
  at: '2026-01-01T12:00:02.000Z',
  latency_ms: 1200,
  latency: {
    silence_ms: 256,
    endpointing_ms: 400,
    recognition_ms: 144,
    waiting_ms: 10,
    model_ms: 190,
    tools_ms: 80,
    voice_ms: 70,
    transport_ms: 50,
  },
  language: 'de',
  end_of_turn: { detector: 'both', probability: 0.9, completeness: 'likely', delay_ms: 400 },
  reopened: 1,
  first_transcript_ms: -400,
  last_transcript_ms: 700,
  decided_ms: 800,
  draft: { used: true, discarded: 4 },
  passages: [{ knowledge_source_id: 'ks_a', name: 'Hours', found_by: 'both' }],
  model_requests: [{ asked_ms: 810, first_token_ms: 1000, ended_ms: null }],
  tools: [{ call_id: 'call_a', tool_name: 'look_up', started_ms: 820, ended_ms: 900, failed: true }],
  first_audio_ms: 1150,
  ended_ms: 4000,
  heard_ms: 2800,
  complete: false,
  held: 2,
  resumed: 3,
  interrupted: { by: 'words', silence_ms: 90, mistaken: true },
  answer_cut: null,
  error: 'engine_failed',
  usage: USAGE,
};

/** A schema without room for a member that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema).map(([name, value]) => [name, closed(value)]);
  return { ...Object.fromEntries(members), ...('properties' in schema && { additionalProperties: false }) };
}

const DESCRIBED = new Map(
  Object.entries(EVENT_BODIES).map(([event, schema]) => [event, Compile(closed(schema) as object)]),
);

/** The parsed body, which is as /openapi.json describes it, and has nothing else. */
function parsed(body: string): unknown {
  const value = JSON.parse(body) as { readonly event: string };
  const described = DESCRIBED.get(value.event);
  if (!described?.Check(value))
    throw new Error(`${value.event} is not as described: ${JSON.stringify(described?.Errors(value))}`);
  return value;
}
const report: SessionFigures = { turns: [turn], prices: null, durationSeconds: 30 };

t.test('call.ended has the session, its turns without words, and its usage', async (t) => {
  const body = endedBody(ID, record, report);
  t.strictSame(parsed(body), {
    event: 'call.ended',
    event_id: ID,
    session: SESSION,
    ended_reason: 'hangup',
    turns: [TURN],
    turns_total: 1,
    usage: { ...USAGE, call_seconds: 30 },
    cost: null,
  });
  t.ok(body.includes(METADATA), 'metadata as the text that came');
  t.notMatch(body, /the words of the caller/);
});

t.test('what is not known of a turn or a session is null', async (t) => {
  const early: Turn = { ...turn, endOfTurn: null, parts: null, interrupted: null, usage: NO_USAGE };
  const unheard = { ...record, startedAt: null, endedAt: null, durationSeconds: null };
  const body = endedBody(ID, unheard, { ...report, turns: [early], durationSeconds: null });
  exactly(t, parsed(body), {
    session: { conversation_started_at: null, conversation_ended_at: null, duration_seconds: null },
    turns: [{ latency: null, end_of_turn: null, interrupted: null }],
    usage: { call_seconds: null },
  });
});

t.test('a session tells how its placed call came out, and is inbound if it is none', async (t) => {
  const sessionIn = (more: Partial<SessionRecord>): unknown =>
    (parsed(endedBody(ID, { ...record, ...more }, report)) as { session: unknown }).session;
  exactly(t, sessionIn({ direction: 'outbound', dialStatus: 'answered', answeredBy: 'voicemail' }), {
    ...{ direction: 'outbound', dial_status: 'answered', answered_by: 'voicemail', batch_call_id: null },
  });
  exactly(t, sessionIn({ direction: null, source: 'api_key' }), {
    ...{ direction: 'inbound', dial_status: null, answered_by: null },
  });
});

t.test('an event has the last 200 turns, and the usage of all', async (t) => {
  const most = LIMITS.session.deliveredTurns;
  const turns = Array.from({ length: most + 1 }, (_, index) => ({ ...turn, number: index + 1 }));
  const body = parsed(endedBody(ID, record, { ...report, turns })) as { turns: { number: number }[] };
  t.equal(body.turns.length, most);
  t.equal(body.turns[0]?.number, 2);
  exactly(t, body, {
    turns_total: most + 1,
    usage: {
      input_tokens: 100 * (most + 1),
      output_tokens: 20 * (most + 1),
      characters: 60 * (most + 1),
      recognised_seconds: 1.5 * (most + 1),
      engines: [
        {
          ...USAGE.engines[0],
          characters: 60 * (most + 1),
          speech_seconds: 2.5 * (most + 1),
          recognised_seconds: 1.5 * (most + 1),
        },
      ],
    },
  });
});

t.test('the cost is by the prices of the session, and null until its call has ended', async (t) => {
  const prices = { currency: 'EUR', call_minute: 0.1, characters: 1 };
  const costOf = (durationSeconds: number | null) =>
    (parsed(endedBody(ID, record, { ...report, prices, durationSeconds })) as { cost: unknown }).cost;
  exactly(t, costOf(30), { currency: 'EUR', call_minute: 0.05, characters: 0.06, total: 0.11 });
  exactly(t, costOf(0), { call_minute: 0, total: 0.06 });
  t.equal(costOf(null), null);
});

t.test('transfers are in the events of calls that had some', async (t) => {
  const transfer: Transfer = {
    ...{ id: 'transfer_1', sessionId: 'sess_1', workspaceId: 'ws_1', numberId: null, provider: 'twilio' },
    ...{ callerCallId: 'CA1', callId: null, toolCallId: 'call_a', mode: 'warm', label: 'Shop', shown: null },
    ...{ to: '+49301', state: 'connected', reason: null, briefing: null },
    ...{ createdAt: at(3), answeredAt: at(4), endedAt: at(5), returnedAt: at(6) },
  };
  const ringing: Transfer = { ...transfer, state: 'ringing', answeredAt: null, endedAt: null, returnedAt: null };
  const told = { transfer_id: 'transfer_1', mode: 'warm', label: 'Shop', to: '+49301', reason: null, started_at: '2026-01-01T12:00:03.000Z' };
  t.strictSame((parsed(endedBody(ID, record, { ...report, transfers: [transfer, ringing] })) as { transfers: unknown }).transfers, [
    { ...told, state: 'connected', answered_at: '2026-01-01T12:00:04.000Z', ended_at: '2026-01-01T12:00:05.000Z', returned_at: '2026-01-01T12:00:06.000Z' },
    { ...told, state: 'ringing', answered_at: null, ended_at: null, returned_at: null },
  ]);
}); // oxfmt-ignore

t.test('call.analyzed has the analysis besides', async (t) => {
  const analysis = {
    status: 'completed',
    summary: 'They talked.',
    error: null,
    data: [{ name: 'size', type: 'number', value: 2, rationale: 'said' }],
    criteriaResults: [{ name: 'polite', result: 'success', rationale: 'was' }],
  } as const;
  const body = (more: Partial<SessionAnalysis>) =>
    parsed(analyzedBody(ID, record, report, { ...analysis, ...more }, at(40)));
  const told = {
    status: 'completed',
    summary: 'They talked.',
    data: analysis.data,
    criteria_results: analysis.criteriaResults,
    finished_at: '2026-01-01T12:00:40.000Z',
    error: null,
    reason: null,
  };
  t.strictSame(body({}), {
    event: 'call.analyzed',
    event_id: ID,
    session: SESSION,
    analysis: told,
    turns: [TURN],
    turns_total: 1,
    usage: { ...USAGE, call_seconds: 30 },
    cost: null,
  });
  exactly(t, body({ reason: 'too_short', error: 'e' }), { analysis: { reason: 'too_short', error: 'e' } });
});

t.test('the test of a webhook is the end of an empty call of its agent', async (t) => {
  const agent = { eventId: ID, id: 'agent_1', name: 'Bakery', configHash: 'sha256:00', now: at(7) };
  t.strictSame(parsed(testBody(agent)), {
    event: 'call.ended',
    event_id: ID,
    session: {
      ...SESSION,
      id: 'sess_test',
      source: 'dashboard',
      conversation_started_at: '2026-01-01T12:00:07.000Z',
      conversation_ended_at: '2026-01-01T12:00:07.000Z',
      duration_seconds: 0,
      failed_answers: 0,
      end_user_id: '',
      metadata: {},
    },
    test: true,
    ended_reason: 'hangup',
    turns: [],
    turns_total: 0,
    usage: {
      ...{
        input_tokens: 0,
        output_tokens: 0,
        tokens_estimated: false,
        models: [],
        characters: 0,
        engines: [],
      },
      ...{ recognised_seconds: 0, call_seconds: 0 },
    },
    cost: null,
  });
});

t.test('phone_call.dial_finished has the session as it is then', async (t) => {
  const answered: SessionRecord = {
    ...record,
    ...{ status: 'active', endedAt: null, durationSeconds: null, endedReason: null },
    ...{ direction: 'outbound', dialStatus: 'answered', answeredBy: 'human' },
  };
  t.strictSame(parsed(dialFinishedBody(ID, answered)), {
    event: 'phone_call.dial_finished',
    event_id: ID,
    dial_status: 'answered',
    answered_by: 'human',
    session: {
      ...SESSION,
      ...{ status: 'active', conversation_ended_at: null, duration_seconds: null },
      ...{ direction: 'outbound', dial_status: 'answered', answered_by: 'human' },
    },
  });
});

t.test('phone_call.ended has the placed call', async (t) => {
  const call: PlacedCall & { readonly sessionId: string } = {
    ...{ id: 'call_1', workspaceId: 'ws_1', sessionId: 'sess_1', agentId: 'agent_1', numberId: 'phone_1' },
    ...{ provider: 'twilio', from: '+491', to: '+492', state: 'ended', reason: 'r', answeredBy: 'human' },
    ...{ callId: 'CA1', maxRingSeconds: 30, voicemail: { action: 'leave_message', message: 'Call back.' } },
    ...{ createdAt: at(0), answeredAt: at(1), endedAt: at(2) },
  };
  const told = {
    ...{ call_id: 'call_1', session_id: 'sess_1', agent_id: 'agent_1', phone_number_id: 'phone_1' },
    ...{ provider: 'twilio', from: '+491', to: '+492', state: 'ended', reason: 'r', answered_by: 'human' },
    ...{ max_ring_seconds: 30, voicemail: { action: 'leave_message', message: 'Call back.' } },
    created_at: '2026-01-01T12:00:00.000Z',
    answered_at: '2026-01-01T12:00:01.000Z',
    ended_at: '2026-01-01T12:00:02.000Z',
  };
  t.strictSame(parsed(placedCallEnded(ID, call)), { event: 'phone_call.ended', event_id: ID, call: told });
  const unanswered = { ...call, voicemail: { action: 'hang_up' }, answeredAt: null, endedAt: null } as const;
  exactly(t, parsed(placedCallEnded(ID, unanswered)), {
    call: { voicemail: { action: 'hang_up', message: null }, answered_at: null, ended_at: null },
  });
  exactly(t, parsed(placedCallEnded(ID, { ...call, voicemail: null })), { call: { voicemail: null } });
});
