/** The options of protocol A (docs/contract/protocol-a.md), a table for each surface. */
import { LIMITS } from '../limits.js';
import { NativeOptions } from '../schemas/native-options.js';
import { type Static, type TSchema, Type } from '../schemas/type.js';
import { allIgnored, ignored, mapped, refused, used } from './row.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const { min, max } = LIMITS.speed.protocolA;
const { properties: native } = NativeOptions;

const BODY = ['body'] as const;
const FORM = ['form', 'body'] as const;
const SESSION = ['session'] as const;
const MESSAGE = ['message'] as const;
const QUERY = ['query'] as const;

const FOR_THE_CLIENT = "for the sender's own accounts";
const FOR_LANGUAGE_MODELS = 'for language models';
const ONE_CATALOGUE = 'the catalogue has no such figures';

export const Provider = Type.Object({
  options: optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Native options by vendor' })),
});

export const VoiceParam = Type.Union([Type.String(), Type.Object({ id: Type.String() })], {
  description: 'Voice id; empty or `default` selects the default voice',
});
export type VoiceParam = Static<typeof VoiceParam>;

export const InputAudio = Type.Object({
  data: Type.String({ description: 'base64' }),
  format: optional(Type.String({ description: 'ignored: audio is recognised by its bytes' })),
});

const OF_THE_CLIENT = ['user', 'session_id', 'trace'] as const;

/** `POST /audio/speech`. */
export const A_SPEECH = {
  model: used(BODY, Type.String()),
  input: used(BODY, Type.String({ description: 'What to say' })),
  voice: used(BODY, optional(VoiceParam)),
  response_format: used(BODY, optional(Type.String({ description: 'mp3, wav, pcm, pcm16 or opus' })), {
    spelled: 'word',
  }),
  sample_rate: used(BODY, optional(Type.Integer({ description: 'Hz' })), { spelled: 'number' }),
  speed: mapped(BODY, 'prosody.speed', Type.Number({ minimum: min, maximum: max, default: 1 }), {
    spelled: 'number',
  }),
  references: mapped(
    BODY,
    'references',
    Type.Unknown({ description: 'Reference audio `{audio, text}[]`, audio in base64' }),
  ),
  input_references: mapped(BODY, 'references', Type.Unknown({ description: 'One audio and one text part' }), {
    aggregatorOnly: true,
    note: 'one reference of the audio part and the text part',
  }),
  temperature: mapped(BODY, 'temperature', native.temperature, { aggregatorOnly: true }),
  top_p: mapped(BODY, 'top_p', native.top_p, { aggregatorOnly: true }),
  repetition_penalty: mapped(BODY, 'repetition_penalty', native.repetition_penalty, { aggregatorOnly: true }),
  provider: used(BODY, optional(Provider)),
  ...allIgnored(OF_THE_CLIENT, BODY, FOR_THE_CLIENT),
  instructions: refused(BODY, 'Speaking instructions are not supported; leave instructions out'),
  stream_format: refused(
    BODY,
    'The only stream_format is `audio`: set it to that (LiveKit\'s plugin does for model="tts-1")',
    { passes: ['audio'] },
  ),
} as const;

export const RESPONSE_FORMATS = ['json', 'text', 'verbose_json', 'srt', 'vtt'] as const;
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

const NO_SPEAKERS = 'Speakers are not told apart';

/** `POST /audio/transcriptions`. */
export const A_TRANSCRIPTION = {
  model: used(FORM, Type.String()),
  language: used(FORM, optional(Type.String({ maxLength: 16, description: 'ISO 639-1 hint' }))),
  response_format: used(FORM, optional(Type.Enum(RESPONSE_FORMATS, { default: 'json' })), {
    spelled: 'word',
  }),
  timestamp_granularities: used(FORM, optional(Type.Array(Type.Enum(['word', 'segment']), { maxItems: 8 })), {
    list: true,
  }),
  stream: used(FORM, optional(Type.Unknown({ description: 'true: server-sent events' }))),
  file: used(['form'], Type.String({ format: 'binary' })),
  input_audio: used(['body'], InputAudio),
  provider: used(
    FORM,
    optional(
      Type.Unknown({ description: '`options.svc` is refused: native options are for synthesis only' }),
    ),
  ),
  languages: ignored(FORM, 'one language is transcribed: that of `language`'),
  keywords: ignored(FORM, 'the recogniser takes no words to expect'),
  prompt: ignored(FORM, 'the recogniser takes no text before'),
  temperature: ignored(FORM, 'recognition does not sample'),
  chunking_strategy: ignored(FORM, 'the recogniser cuts at pauses itself'),
  diarize: ignored(FORM, NO_SPEAKERS, { logged: true }),
  ...allIgnored(OF_THE_CLIENT, FORM, FOR_THE_CLIENT),
  include: refused(FORM, 'Nothing more can be included in a transcription'),
  known_speaker_names: refused(FORM, NO_SPEAKERS),
  known_speaker_references: refused(FORM, NO_SPEAKERS),
  url: refused(FORM, 'Audio must be uploaded; addresses are not fetched'),
} as const;

const Message = Type.Object({
  role: Type.String(),
  content: optional(Type.Unknown({ description: 'Text, or parts of type `text` and `input_audio`' })),
});

/** Options of chat completions for what a language model does. */
const LANGUAGE_MODEL_OPTIONS = [
  'cache_control',
  'citation_options',
  'compound_custom',
  'debug',
  'disable_tool_validation',
  'documents',
  'exclude_domains',
  'frequency_penalty',
  'function_call',
  'functions',
  'image_config',
  'include_domains',
  'include_reasoning',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'min_p',
  'models',
  'moderation',
  'parallel_tool_calls',
  'plugins',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'reasoning_effort',
  'reasoning_format',
  'repetition_penalty',
  'response_format',
  'search_settings',
  'seed',
  'service_tier',
  'stop',
  'stop_server_tools_when',
  'temperature',
  'tool_choice',
  'tools',
  'top_a',
  'top_k',
  'top_logprobs',
  'top_p',
  'verbosity',
  'web_search_options',
] as const;

/** `POST /chat/completions`. */
export const A_CHAT = {
  model: used(BODY, Type.String()),
  messages: used(
    BODY,
    Type.Array(Message, {
      minItems: 1,
      description: 'The text of the last user message is spoken, or its one input_audio part transcribed',
    }),
  ),
  modalities: used(
    BODY,
    optional(Type.Array(Type.String(), { description: '`audio` among them to have text spoken' })),
  ),
  audio: used(
    BODY,
    optional(
      Type.Object({
        voice: optional(VoiceParam),
        format: optional(Type.String({ description: 'mp3, wav, pcm, pcm16 or opus' })),
      }),
    ),
  ),
  stream: used(BODY, optional(Type.Unknown({ description: 'true: server-sent events' }))),
  stream_options: used(BODY, optional(Type.Object({ include_usage: optional(Type.Unknown()) }))),
  n: refused(BODY, 'One answer a call: n must be 1', { passes: [1], evenUnset: true }),
  provider: used(BODY, optional(Provider)),
  'audio.voice': used(BODY, VoiceParam),
  'audio.format': used(BODY, Type.String()),
  ...allIgnored(LANGUAGE_MODEL_OPTIONS, BODY, FOR_LANGUAGE_MODELS),
  ...allIgnored([...OF_THE_CLIENT, 'metadata', 'safety_identifier', 'store'], BODY, FOR_THE_CLIENT),
} as const;

/** Filters of the aggregator's catalogue that no model of ours has anything to say to. */
const CATALOGUE_FILTERS = [
  'arch',
  'category',
  'context',
  'distillable',
  'input_modalities',
  'max_age_days',
  'max_agentic_index',
  'max_coding_index',
  'max_intelligence_index',
  'max_output_price',
  'max_price',
  'max_tool_success_rate',
  'min_age_days',
  'min_agentic_index',
  'min_coding_index',
  'min_intelligence_index',
  'min_output_price',
  'min_price',
  'min_tool_success_rate',
  'model_authors',
  'providers',
  'q',
  'region',
  'sort',
  'supported_parameters',
  'zdr',
] as const;

/** Most entries of a list that a query may name, and the farthest that it may skip to. */
export const MOST_ENTRIES = 999_999_999;

/** `GET /models`. */
export const A_MODELS = {
  output_modalities: used(QUERY, optional(Type.String({ description: '`speech` or `text`' }))),
  limit: used(
    QUERY,
    optional(
      Type.Integer({ minimum: 1, maximum: MOST_ENTRIES, description: 'The most entries of the answer' }),
    ),
  ),
  offset: used(
    QUERY,
    optional(Type.Integer({ minimum: 0, maximum: MOST_ENTRIES, description: 'Entries to skip first' })),
  ),
  ...allIgnored(CATALOGUE_FILTERS, QUERY, ONE_CATALOGUE),
} as const;

const Format = Type.Unknown({ description: 'A format `{type, rate}`, or its name' });
const Modalities = Type.Array(Type.String(), { description: 'With `audio` among them' });

/** Options of a realtime session or response for what a language model does. */
const REALTIME_MODEL_OPTIONS = [
  'instructions',
  'max_output_tokens',
  'parallel_tool_calls',
  'prompt',
  'reasoning',
  'tool_choice',
  'tools',
] as const;

const SHOWN = { shown: true, transcribes: true } as const;

/** `session` of `session.update`, and of `POST /realtime/client_secrets`. */
export const A_SESSION = {
  type: used(SESSION, Type.Enum(['realtime', 'transcription']), { transcribes: true }),
  model: used(SESSION, Type.String()),
  'audio.input.format': used(SESSION, Format, { older: 'input_audio_format', transcribes: true }),
  'audio.input.turn_detection': refused(
    SESSION,
    'The server does not detect turns: set turn_detection to null, and send input_audio_buffer.commit and ' +
      'response.create yourself',
    { older: 'turn_detection', transcribes: true },
  ),
  'audio.input.transcription': used(
    SESSION,
    Type.Union([
      Type.Object({ model: optional(Type.String()), language: optional(Type.String()) }),
      Type.Null(),
    ]),
    { older: 'input_audio_transcription', transcribes: true, nullable: true },
  ),
  'audio.input.noise_reduction': used(SESSION, Type.Unknown(), {
    older: 'input_audio_noise_reduction',
    transcribes: true,
    nullable: true,
  }),
  output_modalities: used(SESSION, Modalities, { older: 'modalities' }),
  'audio.output.format': used(SESSION, Format, { older: 'output_audio_format' }),
  'audio.output.voice': used(SESSION, VoiceParam, { older: 'voice' }),
  'audio.output.speed': used(SESSION, Type.Number({ minimum: min, maximum: max }), { older: 'speed' }),
  'audio.input.transcription.model': used(SESSION, Type.String(), { transcribes: true }),
  'audio.input.transcription.language': used(SESSION, Type.String(), { transcribes: true }),
  'audio.input.transcription.prompt': ignored(SESSION, 'the recogniser takes no text before', SHOWN),
  'audio.input.transcription.delay': ignored(SESSION, 'words are sent as soon as they are known', SHOWN),
  'audio.input.transcription.languages': ignored(
    SESSION,
    'one language is transcribed: that of `language`',
    SHOWN,
  ),
  'audio.input.transcription.keywords': ignored(SESSION, 'the recogniser takes no words to expect', SHOWN),
  ...allIgnored(REALTIME_MODEL_OPTIONS, SESSION, FOR_LANGUAGE_MODELS),
  truncation: ignored(SESSION, FOR_LANGUAGE_MODELS),
  tracing: ignored(SESSION, FOR_THE_CLIENT),
  include: ignored(SESSION, 'nothing more can be told of a transcript'),
} as const;

/** `response` of `response.create`. */
export const A_RESPONSE = {
  input: used(MESSAGE, Type.Array(Type.Unknown(), { description: 'What to say, or references to items' })),
  conversation: used(MESSAGE, Type.String({ description: '`none`: the response is not kept' })),
  metadata: used(
    MESSAGE,
    Type.Record(Type.String(), Type.String(), { description: 'Repeated in the answer' }),
  ),
  output_modalities: { ...A_SESSION.output_modalities, in: MESSAGE },
  'audio.output.format': { ...A_SESSION['audio.output.format'], in: MESSAGE },
  'audio.output.voice': { ...A_SESSION['audio.output.voice'], in: MESSAGE },
  'audio.output.speed': { ...A_SESSION['audio.output.speed'], in: MESSAGE },
  ...allIgnored(REALTIME_MODEL_OPTIONS, MESSAGE, FOR_LANGUAGE_MODELS),
} as const;

const { ttlSeconds } = LIMITS.clientSecret;

/** `POST /realtime/client_secrets`. */
export const A_CLIENT_SECRET = {
  session: used(
    BODY,
    optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'As in `session.update`; its `type` decides' },
      ),
    ),
  ),
  expires_after: used(
    BODY,
    optional(
      Type.Object({
        anchor: optional(Type.Enum(['created_at'])),
        seconds: optional(
          Type.Integer({ minimum: ttlSeconds.min, maximum: ttlSeconds.max, default: ttlSeconds.default }),
        ),
      }),
    ),
  ),
  'expires_after.anchor': used(BODY, Type.Enum(['created_at'])),
  'expires_after.seconds': used(BODY, Type.Integer()),
} as const;
