/** Turns, usage and cost in the record and the events of a session, as contracts/sessions/turn-report.ts writes them. */
import { ANSWER_CUTS } from '../ports/chat.js';
import { FOUND_BY, INTERRUPTIONS, LATENCY_PARTS, type LatencyPart, TURN_CAUSES } from '../sessions/turns.js';
import { nullable } from './shapes.js';
import { type Static, Type } from './type.js';

const Count = Type.Integer({ minimum: 0 });
/** Milliseconds after the turn's `at`; negative if before it. */
const After = (description: string) => nullable(Type.Integer({ description }));
const Ms = Type.Integer();

export const TURN_USAGE = {
  input_tokens: Count,
  output_tokens: Count,
  tokens_estimated: Type.Boolean({
    description:
      'Whether some were counted by the gateway (o200k_base), because the language model did not report them.',
  }),
  models: Type.Array(Type.Object({ model: Type.String(), input_tokens: Count, output_tokens: Count }), {
    description: 'The same tokens by the language model that answered; empty in records of earlier releases.',
  }),
  characters: Type.Integer({ minimum: 0, description: 'Synthesised.' }),
  recognised_seconds: Type.Number({ minimum: 0, description: 'Seconds of transcribed audio.' }),
  engines: Type.Array(
    Type.Object({
      engine: Type.String({ description: 'As `TTS_ENGINES` and `STT_ENGINES` name it.' }),
      model: nullable(Type.String({ description: 'Of its service; null if the engine has but one.' })),
      characters: Count,
      speech_seconds: Type.Number({ minimum: 0, description: 'Of speech that it made.' }),
      recognised_seconds: Type.Number({ minimum: 0 }),
    }),
    {
      description:
        'Characters and audio by the engines that spoke and heard, so also by those that stood in for one that failed; ' +
        'empty in records of earlier releases.',
    },
  ),
};

const Latency = Type.Unsafe<Readonly<Record<`${LatencyPart}_ms`, number>>>(
  Type.Object(Object.fromEntries(LATENCY_PARTS.map((part) => [`${part}_ms`, Ms])), {
    description: 'The parts of `latency_ms`, in their order; they add up to it.',
  }),
);

const EndOfTurn = Type.Object(
  {
    detector: Type.String({ description: 'tables, audio or both.' }),
    probability: nullable(
      Type.Number({ description: 'That the turn was over; null if the detector gives none.' }),
    ),
    completeness: Type.String({ description: 'complete, likely, open or unfinished.' }),
    delay_ms: Ms,
  },
  {
    description:
      'The detector that decided, how complete the turn looked to it, and the silence that it required for that.',
  },
);

const TURN = {
  number: Type.Integer({ minimum: 1 }),
  turn_id: Type.Integer({ description: 'That of its items.' }),
  cause: Type.Enum([...TURN_CAUSES], { description: 'Why the agent spoke.' }),
  at: Type.String({
    format: 'date-time',
    description: "End of the user's voice, or the moment of the cause; all moments in `_ms` count from here.",
  }),
  latency_ms: After('When the first audio left for the user.'),
  latency: nullable(Latency),
  language: nullable(
    Type.String({
      description: 'That of the call when the user spoke, of an agent with `voice.languages`; else null.',
    }),
  ),
  end_of_turn: nullable(EndOfTurn),
  reopened: Type.Integer({
    minimum: 0,
    description: 'How often the user continued after the turn had seemed to be over.',
  }),
  first_transcript_ms: After('The first partial transcript with words.'),
  last_transcript_ms: After('The last final transcript.'),
  decided_ms: After('When the turn was over.'),
  draft: Type.Object(
    { used: Type.Boolean(), discarded: Count },
    { description: 'Answers that were requested before the turn was certain to be over.' },
  ),
  passages: Type.Array(
    Type.Object({
      knowledge_source_id: Type.String(),
      name: Type.String({ description: "The source's." }),
      found_by: Type.Enum([...FOUND_BY], { description: 'By its words, by meaning, or by both.' }),
    }),
    { description: 'Of the knowledge, that the model was told for this turn, best first.' },
  ),
  model_requests: Type.Array(
    Type.Object({ asked_ms: Ms, first_token_ms: nullable(Ms), ended_ms: nullable(Ms) }),
  ),
  tools: Type.Array(
    Type.Object({
      call_id: Type.String(),
      tool_name: Type.String(),
      started_ms: Ms,
      ended_ms: nullable(Ms),
      failed: Type.Boolean(),
    }),
  ),
  first_audio_ms: After('The first audio was synthesised.'),
  ended_ms: After('The answer was over, however it ended; null while it goes on.'),
  heard_ms: Type.Integer({ minimum: 0, description: 'How much of the answer was heard.' }),
  complete: Type.Boolean({ description: 'Whether all of it was heard.' }),
  held: Type.Integer({
    minimum: 0,
    description: 'How often the agent paused for a sound of the user.',
  }),
  resumed: Type.Integer({ minimum: 0, description: 'How often it resumed at the same frame.' }),
  interrupted: nullable(
    Type.Object({
      by: Type.Enum([...INTERRUPTIONS]),
      silence_ms: nullable(
        Type.Integer({ description: "From the user's voice or message to the agent's silence." }),
      ),
      mistaken: Type.Boolean({
        description: 'The sound turned out to be nothing, and the agent was asked to continue.',
      }),
    }),
  ),
  answer_cut: nullable(
    Type.Enum([...ANSWER_CUTS], { description: 'Why the language model’s answer is incomplete.' }),
  ),
  error: nullable(Type.String({ description: 'Why it could not be answered.' })),
  usage: Type.Object(TURN_USAGE),
};

/** A turn as events have it. */
export const TurnBody = Type.Object(TURN, { title: 'EventTurn' });
export type TurnBody = Static<typeof TurnBody>;

export const TurnEntity = Type.Object(
  { ...TURN, words: Type.String({ description: "The user's; empty if the agent spoke by itself." }) },
  {
    title: 'Turn',
    description: 'Written when its answer begins to be heard, and completed when it has ended.',
  },
);

export const UsageEntity = Type.Object(
  {
    ...TURN_USAGE,
    call_seconds: nullable(Type.Integer({ description: 'Null until the call has ended.' })),
  },
  { title: 'Usage' },
);

export const CostEntity = Type.Object(
  {
    currency: Type.String(),
    total: Type.Number(),
    input_tokens: Type.Number(),
    output_tokens: Type.Number(),
    characters: Type.Number(),
    speech_minute: Type.Number({ description: 'Of speech that was made, by engines that bill it so.' }),
    recognition_minute: Type.Number(),
    call_minute: Type.Number(),
  },
  {
    title: 'Cost',
    description:
      'By the `PRICES` at the creation of the session; null without them, and until the call has ended.',
  },
);

const NOTHING_USED = {
  input_tokens: 0,
  output_tokens: 0,
  tokens_estimated: false,
  models: [],
  characters: 0,
  recognised_seconds: 0,
  engines: [],
};

export const REPORT_EXAMPLE = { turns: [], usage: { ...NOTHING_USED, call_seconds: 184 }, cost: null };
