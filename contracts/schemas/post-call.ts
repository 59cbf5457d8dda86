/** Bodies of post-call events, as contracts/sessions/post-call.ts makes them (docs/webhooks.md). */
import { DIAL_STATUSES } from '../phone/phone.js';
import { TRANSFER_MODES, TRANSFER_STATES } from '../phone/transfer-states.js';
import { type DeliveryEvent } from '../ports/sessions/deliveries.js';
import { ENDED_REASONS, SESSION_SOURCES, SESSION_STATUSES } from '../ports/sessions/sessions.js';
import type { RawJson } from '../text/raw-json.js';
import { CALL_EXAMPLE, CallEntity, DIALLED } from './placed-calls.js';
import { Moment, nullable } from './shapes.js';
import { CostEntity, REPORT_EXAMPLE, TurnBody, UsageEntity } from './turns.js';
import { type Static, type TSchema, Type } from './type.js';

const ANALYSIS = {
  status: Type.Enum(['queued', 'running', 'completed', 'skipped', 'error']),
  summary: nullable(Type.String()),
  data: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.Enum(['boolean', 'text', 'number', 'enum']),
      value: Type.Unknown(),
      rationale: Type.String(),
    }),
  ),
  criteria_results: Type.Array(
    Type.Object({
      name: Type.String(),
      result: Type.Enum(['success', 'failure', 'unknown']),
      rationale: Type.String(),
    }),
  ),
  reason: nullable(Type.String({ description: 'The reason of `skipped`.' })),
};

export const Analysis = Type.Object(ANALYSIS, { title: 'Analysis' });

export const TransferEntity = Type.Object(
  {
    transfer_id: Type.String(),
    mode: Type.Enum([...TRANSFER_MODES]),
    label: Type.String({ description: 'Of the destination.' }),
    to: Type.String({ description: 'The number or SIP address that was called.' }),
    state: Type.Enum([...TRANSFER_STATES], {
      description:
        '`answered`: a colleague is briefed about the caller; `accepted`: the colleague takes the call; `connected`: both are connected.',
    }),
    reason: nullable(Type.String({ description: 'The reason, if the state does not say it.' })),
    started_at: Moment,
    answered_at: nullable(Moment),
    ended_at: nullable(Moment),
    returned_at: nullable(Moment),
  },
  { title: 'Transfer' },
);

const EventId = Type.String({
  description:
    'Names the event: the same in every attempt, at every webhook, and in the header. Take each id once.',
});

/** What events tell of a session. */
const EventSession = Type.Object(
  {
    id: Type.String(),
    agent_id: Type.String(),
    branch_id: Type.String({ description: 'Empty: an agent has no branches here.' }),
    source: Type.Enum([...SESSION_SOURCES]),
    status: Type.Enum([...SESSION_STATUSES]),
    conversation_started_at: nullable(Moment),
    conversation_ended_at: nullable(Moment),
    duration_seconds: nullable(Type.Integer({ minimum: 0 })),
    end_user_id: Type.String({ description: 'Empty if the session was created without one.' }),
    metadata: Type.Unsafe<RawJson>({ type: 'object', description: 'As the session was created with.' }),
    failed_answers: Type.Integer({
      minimum: 0,
      description: 'Turns in which the agent could not answer; each has its `error`.',
    }),
    ...DIALLED,
    batch_call_id: Type.Null(),
    agent_name: Type.String(),
    config_hash: Type.String(),
  },
  { title: 'EventSession' },
);
export type EventSession = Static<typeof EventSession>;

const REPORT = {
  turns: Type.Array(TurnBody, { description: 'Without words; the last 200.' }),
  turns_total: Type.Integer({ minimum: 0 }),
  transfers: Type.Optional(Type.Array(TransferEntity, { description: 'Of phone calls that had some.' })),
  usage: UsageEntity,
  cost: nullable(CostEntity),
};
const EventReport = Type.Object(REPORT);
export type EventReport = Static<typeof EventReport>;

const EventAnalysis = Type.Object(
  {
    ...ANALYSIS,
    status: Type.Enum(['completed', 'skipped', 'error']),
    finished_at: Moment,
    error: nullable(Type.String({ description: 'The reason of `error`.' })),
  },
  { title: 'EventAnalysis' },
);
export type EventAnalysis = Static<typeof EventAnalysis>;

const EXAMPLE_SESSION = {
  id: 'sess_5f0c8a1b2c3d4e5f60718293',
  agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
  branch_id: '',
  source: 'api_key',
  status: 'completed',
  conversation_started_at: '2026-01-01T12:00:02.000Z',
  conversation_ended_at: '2026-01-01T12:03:06.000Z',
  duration_seconds: 184,
  end_user_id: 'customer-42',
  metadata: { order: 'A-17' },
  failed_answers: 0,
  direction: 'inbound',
  dial_status: null,
  answered_by: null,
  batch_call_id: null,
  agent_name: 'Support',
  config_hash: 'sha256:9c41',
};
const EXAMPLE_ID = 'evt_5f0c8a1b2c3d4e5f60718293';
const EXAMPLE_REPORT = { ...REPORT_EXAMPLE, turns_total: 0 };

export const CallEndedEvent = Type.Object(
  {
    event: Type.Literal('call.ended'),
    event_id: EventId,
    session: EventSession,
    test: Type.Optional(Type.Literal(true, { description: 'Only in a test of the webhook.' })),
    ended_reason: Type.String({ description: `An open set: ${Object.keys(ENDED_REASONS).join(', ')}.` }),
    ...REPORT,
  },
  {
    title: 'CallEndedEvent',
    examples: [
      {
        event: 'call.ended',
        event_id: EXAMPLE_ID,
        session: EXAMPLE_SESSION,
        ended_reason: 'hangup',
        ...EXAMPLE_REPORT,
      },
    ],
  },
);
export type CallEndedEvent = Static<typeof CallEndedEvent>;

export const CallAnalyzedEvent = Type.Object(
  {
    event: Type.Literal('call.analyzed'),
    event_id: EventId,
    session: EventSession,
    analysis: EventAnalysis,
    ...REPORT,
  },
  {
    title: 'CallAnalyzedEvent',
    examples: [
      {
        event: 'call.analyzed',
        event_id: 'evt_60718293a4b5c6d7e8f90a1b',
        session: EXAMPLE_SESSION,
        analysis: {
          status: 'completed',
          summary: 'Ada moved her delivery to Monday.',
          data: [],
          criteria_results: [],
          reason: null,
          finished_at: '2026-01-01T12:03:12.000Z',
          error: null,
        },
        ...EXAMPLE_REPORT,
      },
    ],
  },
);
export type CallAnalyzedEvent = Static<typeof CallAnalyzedEvent>;

export const DialFinishedEvent = Type.Object(
  {
    event: Type.Literal('phone_call.dial_finished'),
    event_id: EventId,
    dial_status: Type.Enum([...DIAL_STATUSES], { description: 'How the placed call came out.' }),
    answered_by: DIALLED.answered_by,
    session: EventSession,
  },
  {
    title: 'DialFinishedEvent',
    examples: [
      {
        event: 'phone_call.dial_finished',
        event_id: 'evt_8293a4b5c6d7e8f90a1b2c3d',
        dial_status: 'answered',
        answered_by: 'human',
        session: {
          ...EXAMPLE_SESSION,
          source: 'phone',
          status: 'active',
          conversation_ended_at: null,
          duration_seconds: null,
          direction: 'outbound',
          dial_status: 'answered',
          answered_by: 'human',
        },
      },
    ],
  },
);
export type DialFinishedEvent = Static<typeof DialFinishedEvent>;

export const PhoneCallEndedEvent = Type.Object(
  { event: Type.Literal('phone_call.ended'), event_id: EventId, call: CallEntity },
  {
    title: 'PhoneCallEndedEvent',
    examples: [{ event: 'phone_call.ended', event_id: 'evt_718293a4b5c6d7e8f90a1b2c', call: CALL_EXAMPLE }],
  },
);
export type PhoneCallEndedEvent = Static<typeof PhoneCallEndedEvent>;

/** The body of each event. */
export const EVENT_BODIES: Readonly<Record<DeliveryEvent, TSchema>> = {
  'call.ended': CallEndedEvent,
  'call.analyzed': CallAnalyzedEvent,
  'phone_call.dial_finished': DialFinishedEvent,
  'phone_call.ended': PhoneCallEndedEvent,
};
