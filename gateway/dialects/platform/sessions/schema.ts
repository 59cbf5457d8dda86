/** Bodies and answers of `/v1/agent/sessions` (docs/contract/platform.md 6.6 and 6.7). */
import { LANGUAGES } from '../../../../contracts/speech/languages.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { OUTCOMES } from '../../../../contracts/ports/parts.js';
import { SESSION_SOURCES, SESSION_STATUSES } from '../../../../contracts/ports/sessions/sessions.js';
import { leaf, Moment, nullable, strict, text } from '../../../../contracts/schemas/shapes.js';
import { type Static, Type } from '../../../../contracts/schemas/type.js';
import type { Vocabulary } from '../../../../contracts/vocabulary.js';
import { DIALLED } from '../../../../contracts/schemas/placed-calls.js';
import { CostEntity, REPORT_EXAMPLE, TurnEntity, UsageEntity } from '../../../../contracts/schemas/turns.js';
import { Analysis, TransferEntity } from '../../../../contracts/schemas/post-call.js';

const { agent, session } = LIMITS;

export const Overrides = strict(
  {
    first_message: leaf(
      text(agent.firstMessage, { description: 'Spoken as it is, in any first-message mode.' }),
    ),
    first_message_prompt: leaf(
      text(agent.firstMessage, {
        description: 'How to open the conversation. Not together with `first_message`.',
      }),
    ),
    system_prompt: leaf(
      text(agent.systemPromptLength, {
        description: `Up to ${agent.systemPromptTokens.toLocaleString('en')} tokens (o200k_base).`,
      }),
    ),
    voice_id: leaf(text(agent.voiceId)),
    language: leaf(Type.Enum([...LANGUAGES])),
  },
  {
    description:
      'Replace parts of the published configuration for this session: those that the agent allows.',
  },
);
export type Overrides = Static<typeof Overrides>;

const FIELDS = {
  overrides: leaf(Overrides),
  dynamic_variables: leaf(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        `Values of \`{{placeholder}}\`s in the prompt: strings of at most ${session.dynamicVariableLength} characters, numbers ` +
        `or booleans, at most ${session.dynamicVariables}. A placeholder without a value stays as it is.`,
    }),
  ),
  tool_events: leaf(
    Type.Boolean({ default: true, description: 'Whether the client gets events about tool calls.' }),
  ),
  end_user_id: leaf(text(session.endUserId)),
  metadata: leaf(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `Stored and returned unchanged: at most ${session.metadataBytes / 1024} KiB of JSON.`,
    }),
  ),
  record_audio: leaf(Type.Boolean({ description: "Instead of the agent's setting." })),
  timezone: leaf(text(session.timezone, { description: 'IANA name.' })),
  client_timezone: leaf(
    text(session.timezone, {
      description: 'Used if neither the request nor the agent has a timezone. An invalid one is ignored.',
    }),
  ),
  world_context: leaf(Type.Boolean({ default: true, description: 'Whether the agent knows date and time.' })),
  name: leaf(text(session.name, { description: 'Not in requests without a key.' })),
};

const { record_audio: _sound, overrides: _spoken, ...WRITTEN } = FIELDS;
const { voice_id: _voice, ...written } = Overrides.properties;

/** The fields of a session without sound. */
export const WRITTEN_FIELDS = {
  overrides: leaf(strict(written)),
  ...WRITTEN,
};

const { tool_events: _shown, client_timezone: _hint, ...CALLED } = FIELDS;

/** The fields of a session without a client. */
export const CALLED_FIELDS = CALLED;

export const SessionRequest = strict(
  { agent_id: text({ min: 1, max: session.agentId }), ...FIELDS },
  {
    examples: [
      {
        agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        dynamic_variables: { customer_name: 'Ada' },
        metadata: { order: 'A-17' },
      },
    ],
  },
);
export type SessionRequest = Static<typeof SessionRequest>;

export const PreviewRequest = strict(
  {
    version_number: leaf(
      Type.Integer({
        minimum: 1,
        maximum: 2 ** 31 - 1,
        description: 'A published version; absent or null: the draft.',
      }),
    ),
    ...FIELDS,
  },
  { examples: [{ dynamic_variables: { customer_name: 'Ada' } }] },
);

/** The token and address with which a client joins; `vocabulary` names the address. */
export const SessionResponse = ({ transport, transportUrlField }: Vocabulary) =>
  Type.Object(
    {
      session_id: Type.String(),
      expires_at: Type.String({
        format: 'date-time',
        description: 'The client must join before this.',
      }),
      max_duration_seconds: Type.Integer(),
      transport: Type.String({
        description: 'A client that does not know it fails with `unsupported_transport`.',
      }),
      [transportUrlField]: Type.String(),
      token: Type.String({ description: 'For one join.' }),
    },
    {
      title: 'CreatedSession',
      description: 'Pass it to the client unchanged.',
      examples: [
        {
          session_id: 'sess_5f0c8a1b2c3d4e5f60718293',
          expires_at: '2026-01-01T12:02:00.000Z',
          max_duration_seconds: 1800,
          transport,
          [transportUrlField]: 'wss://speech.example.com',
          token: 'eyJhbGciOiJIUzI1NiJ9.e30.x',
        },
      ],
    },
  );

const ROW = {
  session_id: Type.String(),
  agent_id: Type.String(),
  agent_name: Type.String(),
  name: nullable(Type.String()),
  status: Type.Enum([...SESSION_STATUSES]),
  source: Type.Enum([...SESSION_SOURCES]),
  caller_number: nullable(Type.String()),
  dialed_number: nullable(Type.String()),
  ...DIALLED,
  timezone: nullable(Type.String()),
  created_at: Moment,
  started_at: nullable(Moment),
  ended_at: nullable(Moment),
  duration_seconds: nullable(Type.Integer()),
  failed_answers: Type.Integer({
    description: 'Turns in which the agent could not answer; each has its `error`.',
  }),
  metadata: Type.Record(Type.String(), Type.Unknown()),
};

export const ROW_EXAMPLE = {
  session_id: 'sess_5f0c8a1b2c3d4e5f60718293',
  agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
  agent_name: 'Bakery',
  name: null,
  status: 'completed',
  source: 'api_key',
  caller_number: null,
  dialed_number: null,
  direction: 'inbound',
  dial_status: null,
  answered_by: null,
  timezone: 'Europe/Berlin',
  created_at: '2026-01-01T12:00:00.000Z',
  started_at: '2026-01-01T12:00:03.000Z',
  ended_at: '2026-01-01T12:03:07.000Z',
  duration_seconds: 184,
  failed_answers: 0,
  metadata: { order: 'A-17' },
};

export const SessionRow = Type.Object(ROW, { title: 'SessionSummary', examples: [ROW_EXAMPLE] });

const HAPPENED = { turn_id: Type.Integer(), created_at: Moment };
const TOOL = { call_id: Type.String(), tool_name: Type.String(), tool_source: Type.String() };

/** Entries of a session's record. */
export const Item = Type.Union([
  Type.Object(
    {
      type: Type.Enum(['message']),
      role: Type.Enum(['user', 'assistant']),
      content: Type.String(),
      error: Type.Optional(Type.String({ description: 'Why the agent could not answer.' })),
      backchannel: Type.Optional(
        Type.Boolean({
          description: 'The user’s agreement while the agent spoke, which gets no answer.',
        }),
      ),
      background: Type.Optional(
        Type.Boolean({
          description: 'Speech of somebody far quieter than the user; the language model does not get it.',
        }),
      ),
      echo: Type.Optional(
        Type.Boolean({
          description:
            'Words of the agent that came back through the microphone; the language model does not get them.',
        }),
      ),
      filler: Type.Optional(
        Type.Boolean({
          description: 'Said by the agent while tools took long; no part of its answer.',
        }),
      ),
      ...HAPPENED,
    },
    { title: 'MessageItem' },
  ),
  Type.Object(
    { type: Type.Enum(['tool_call']), ...TOOL, input: Type.String(), ...HAPPENED },
    { title: 'ToolCallItem' },
  ),
  Type.Object(
    {
      type: Type.Enum(['tool_result']),
      ...TOOL,
      status: Type.Enum(['completed', 'failed']),
      output: Type.String(),
      output_truncated: Type.Boolean({
        description: 'Whether it is longer; then it ends with a mark that says so.',
      }),
      told_truncated: Type.Optional(
        Type.Boolean({
          description: 'Whether the model was told less of it than stands here, with the same mark.',
        }),
      ),
      error: nullable(Type.String()),
      latency_ms: Type.Integer(),
      ...HAPPENED,
    },
    { title: 'ToolResultItem' },
  ),
  Type.Object(
    {
      type: Type.Enum(['llm.endpoint_error']),
      model: Type.String(),
      host: Type.String(),
      error: Type.Enum([...OUTCOMES], {
        description:
          '`refused_key`: the server does not take the key; `limited`: too many requests, or no credit; `wrong_address`: no such path or model; ' +
          '`refused`: the request, or an address that may not be asked; `invalid`: no stream of an answer.',
      }),
      status_code: nullable(Type.Integer({ description: 'With which it answered, if it did.' })),
      retried: Type.Boolean({ description: 'Whether the same request was sent again.' }),
      ...HAPPENED,
    },
    { title: 'EndpointErrorItem', description: 'A request to the agent’s own language model that failed.' },
  ),
]);

export const SessionEntity = Type.Object(
  {
    ...ROW,
    version_number: nullable(Type.Integer({ description: 'Null for the draft.' })),
    end_user_id: nullable(Type.String()),
    overrides: Type.Record(Type.String(), Type.String(), {
      description: 'Those that took effect, as the request had them.',
    }),
    ended_reason: nullable(
      Type.String({
        description: 'hangup, timeout, ended_by_api, transferred, error, transport_lost, not_joined …',
      }),
    ),
    recorded: Type.Boolean({ description: 'Whether there is a recording, or one is being made.' }),
    items: Type.Array(Item),
    turns: Type.Array(TurnEntity),
    transfers: Type.Array(TransferEntity, { description: 'Of phone calls.' }),
    usage: UsageEntity,
    cost: nullable(CostEntity),
    analysis: nullable(Analysis),
  },
  {
    title: 'Session',
    examples: [
      {
        ...ROW_EXAMPLE,
        version_number: 3,
        end_user_id: null,
        overrides: {},
        ended_reason: 'hangup',
        recorded: true,
        items: [
          {
            type: 'message',
            role: 'assistant',
            content: 'Hello Ada!',
            turn_id: 1,
            created_at: '2026-01-01T12:00:04.000Z',
          },
        ],
        transfers: [],
        ...REPORT_EXAMPLE,
        analysis: null,
      },
    ],
  },
);

export const SessionsRemoved = Type.Object(
  {
    deleted: Type.Integer(),
    kept: Type.Integer({ description: 'Sessions that run or can still be joined.' }),
  },
  { title: 'SessionsRemoved', examples: [{ deleted: 12, kept: 0 }] },
);

const Failed = { error: nullable(Type.String()), error_code: nullable(Type.String()) };

export const RecordingEntity = Type.Object(
  {
    session_id: Type.String(),
    status: Type.Enum(['processing', 'complete', 'failed']),
    tracks: Type.Array(
      Type.Object(
        {
          part: Type.Integer({
            minimum: 1,
            description:
              'A call that another process took over is recorded in parts, with a gap between them.',
          }),
          role: Type.Enum(['agent', 'user', 'human']),
          status: Type.Enum(['requested', 'active', 'complete', 'failed']),
          url: nullable(Type.String({ description: 'Signed; until `expires_at`.' })),
          expires_at: nullable(Moment),
          duration_ms: nullable(Type.Integer()),
          started_at: nullable(Moment),
          ended_at: nullable(Moment),
          ...Failed,
        },
        { title: 'RecordingTrack' },
      ),
    ),
    ...Failed,
    error_message: nullable(Type.String()),
  },
  { title: 'Recording' },
);
