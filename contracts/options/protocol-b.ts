/** The options of protocol B (docs/contract/protocol-b.md), a table for each surface. */
import { LIMITS } from '../limits.js';
import { type TSchema, Type } from '../schemas/type.js';
import { allIgnored, ignored, mapped, type OptionRow, type OptionPlace, refused, used } from './row.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const { min, max } = LIMITS.speed.protocolB;

const BODY = ['body'] as const;
const FORM = ['form'] as const;
const QUERY = ['query'] as const;
const MESSAGE = ['message'] as const;

const NO_LOGS = 'zero retention is a matter of the operator: transcripts and audio are never logged';
const NO_SAMPLING = 'recognition does not sample';

const LanguageCode = Type.String({ maxLength: 35, description: 'ISO 639; else the script decides' });
const OutputFormat = Type.String({
  default: 'mp3_44100_128',
  description: '`mp3_44100_128`, `pcm_16000`, `wav_24000`, `opus_48000_64` …; MP3 bitrates snap up to a tier',
});

/** The members of `voice_settings`. */
const voiceSettings = (places: readonly OptionPlace[]) =>
  ({
    'voice_settings.stability': mapped(
      places,
      'temperature',
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'The lower, the livelier: temperature is 1 - stability',
      }),
      { spelled: 'number', note: '1 less the stability', convert: (value) => 1 - Number(value) },
    ),
    'voice_settings.speed': mapped(
      places,
      'prosody.speed',
      Type.Number({ minimum: min, maximum: max, default: 1 }),
      { spelled: 'number' },
    ),
    ...allIgnored(
      ['voice_settings.similarity_boost', 'voice_settings.style', 'voice_settings.use_speaker_boost'],
      places,
      'the voices have one manner of speaking (rule 2)',
    ),
  }) as const;

const normalization = (places: readonly OptionPlace[]) =>
  mapped(
    places,
    'normalize',
    Type.Enum(['auto', 'on', 'off'], { default: 'auto', description: 'Whether numbers are written out' }),
    {
      note: '`on` is true, `off` false, `auto` the default',
      values: { auto: undefined, on: true, off: false },
    },
  );

const dictionaries = (places: readonly OptionPlace[]) =>
  refused(places, 'There are no pronunciation dictionaries; spell the words as they are to be said');

/** What a service with a history and several copies of a voice does with a text. */
const unrelated = {
  seed: 'the same request need not give the same samples',
  optimize_streaming_latency: 'latency is a native option',
  enable_logging: NO_LOGS,
  apply_language_text_normalization: 'texts are read as their language wants it',
} as const;

const unrelatedIn = <const N extends keyof typeof unrelated>(
  names: readonly N[],
  places: readonly OptionPlace[],
) =>
  Object.fromEntries(names.map((name) => [name, ignored(places, unrelated[name])])) as Record<
    N,
    ReturnType<typeof ignored>
  >;

const NO_CONTEXT = 'each text is spoken by itself';

/** `POST /v1/text-to-speech/{voice_id}` and its forms with streams and timestamps. */
export const B_SPEECH = {
  text: used(BODY, Type.String({ description: 'What to say' })),
  model_id: used(BODY, optional(Type.String())),
  language_code: used(BODY, optional(LanguageCode)),
  output_format: used(QUERY, OutputFormat),
  apply_text_normalization: normalization(BODY),
  ...voiceSettings(BODY),
  ...unrelatedIn(['seed', 'apply_language_text_normalization'], BODY),
  ...unrelatedIn(['enable_logging', 'optimize_streaming_latency'], QUERY),
  ...allIgnored(['previous_text', 'next_text', 'previous_request_ids', 'next_request_ids'], BODY, NO_CONTEXT),
  use_pvc_as_ivc: ignored(BODY, 'there is one copy of a voice'),
  audio_effects: refused(BODY, 'Effects are not applied to audio; leave audio_effects out'),
  pronunciation_dictionary_locators: dictionaries(BODY),
} as const satisfies Readonly<Record<string, OptionRow>>;

const Flag = Type.Boolean({ default: false });

/** The sockets `stream-input` and `multi-stream-input`: the query of the handshake, and messages. */
export const B_SPEECH_SOCKET = {
  model_id: used(QUERY, optional(Type.String())),
  language_code: used(QUERY, optional(LanguageCode)),
  output_format: used(QUERY, OutputFormat),
  sync_alignment: used(QUERY, Flag),
  auto_mode: used(QUERY, Flag),
  inactivity_timeout: used(QUERY, Type.Number({ description: 'seconds' })),
  single_use_token: used(QUERY, Type.String()),
  authorization: used(['query', 'message'], Type.String({ description: 'The API key' })),
  'xi-api-key': used(['query', 'message'], Type.String({ description: 'The API key' })),
  xi_api_key: used(['query', 'message'], Type.String({ description: 'The API key' })),
  apply_text_normalization: normalization(QUERY),
  ...unrelatedIn(
    ['seed', 'enable_logging', 'optimize_streaming_latency', 'apply_language_text_normalization'],
    QUERY,
  ),
  enable_ssml_parsing: ignored(QUERY, 'tags are never read aloud'),
  text: used(MESSAGE, Type.String()),
  context_id: used(MESSAGE, Type.String()),
  contextId: used(MESSAGE, Type.String()),
  flush: used(MESSAGE, Flag),
  try_trigger_generation: used(MESSAGE, Flag),
  close_context: used(MESSAGE, Flag),
  close_socket: used(MESSAGE, Flag),
  ...voiceSettings(MESSAGE),
  'generation_config.chunk_length_schedule': used(MESSAGE, Type.Array(Type.Number())),
  generator_config: ignored(MESSAGE, 'a schedule stands in the first message, as generation_config'),
  pronunciation_dictionary_locators: dictionaries(MESSAGE),
} as const satisfies Readonly<Record<string, OptionRow>>;

export const GRANULARITIES = ['none', 'word'] as const;
export const FILE_FORMATS = ['other', 'pcm_s16le_16'] as const;

const LIST = { list: true } as const;
const NO_SPEAKERS = 'Speakers are not told apart';
const NO_ENTITIES = 'Entities are not detected';
const NO_ADDRESSES = 'Audio must be uploaded; addresses are not fetched';
const NO_WEBHOOKS = 'Transcripts are answered, not delivered';

/** Refused by every transcription, whether of a file or on a socket. */
const refusedTranscription = (places: readonly OptionPlace[]) =>
  ({
    diarize: refused(places, `${NO_SPEAKERS}; set diarize to false`),
    entity_redaction: refused(places, NO_ENTITIES, LIST),
    entity_detection: refused(places, NO_ENTITIES, LIST),
    entity_redaction_mode: refused(places, NO_ENTITIES),
    use_multi_channel: refused(places, 'Channels are not transcribed apart'),
    additional_formats: refused(places, 'There are no additional formats', LIST),
    tag_audio_events: refused(places, 'Audio events are not tagged; set tag_audio_events to false'),
    no_verbatim: refused(places, 'Transcripts are verbatim'),
    webhook: refused(places, NO_WEBHOOKS),
    webhook_id: refused(places, NO_WEBHOOKS),
    transcript_edit: refused(places, 'Transcripts are not edited'),
    detect_speaker_roles: refused(places, NO_SPEAKERS),
    use_speaker_library: refused(places, NO_SPEAKERS),
    filter_background_audio: refused(places, 'Voices in the background are transcribed, too'),
    secondary_languages: refused(places, 'One language is transcribed; name it as language_code', LIST),
    source_url: refused(places, NO_ADDRESSES),
    cloud_storage_url: refused(places, NO_ADDRESSES),
  }) as const;

const REFUSED_GRANULARITIES = {
  why: 'Characters are not timed; `word` and `none` are supported',
  passes: GRANULARITIES,
} as const;

/** Words that turn the log off; others that count as unset leave it to its default, which is on. */
const OFF = ['false', '0', 'off'] as const;

const unlogged = (places: readonly OptionPlace[]) =>
  refused(places, 'Requests cannot be left out of the log', { only: OFF, keeps: OFF });

/** Words that may be said, each a value of its own. */
const keyterms = (places: readonly OptionPlace[]) =>
  used(
    places,
    optional(
      Type.Array(Type.String(), {
        maxItems: LIMITS.transcription.keyterms,
        description: 'Names and other words to expect: they take the place of what was heard nearly the same',
      }),
    ),
    LIST,
  );

const Spoken = Type.String({ maxLength: 35, description: 'ISO 639; repeated in the answer' });

/** `POST /v1/speech-to-text`. */
export const B_TRANSCRIPTION = {
  file: used(FORM, Type.String({ format: 'binary' })),
  model_id: used(FORM, Type.String()),
  language_code: used(FORM, optional(Spoken)),
  timestamps_granularity: used(FORM, optional(Type.Enum(GRANULARITIES, { default: 'word' })), {
    keeps: ['none'],
    refusal: REFUSED_GRANULARITIES,
  }),
  file_format: used(
    FORM,
    optional(
      Type.Enum(FILE_FORMATS, {
        default: 'other',
        description: '`pcm_s16le_16`: raw samples at 16 kHz, mono',
      }),
    ),
  ),
  token: used(QUERY, Type.String({ description: 'A single-use token, in place of a key' })),
  ...refusedTranscription(FORM),
  enable_logging: unlogged(['query', 'form']),
  keyterms: keyterms(FORM),
  temperature: ignored(FORM, NO_SAMPLING),
  seed: ignored(FORM, NO_SAMPLING),
  num_speakers: ignored(FORM, 'concerns diarize, which is refused'),
  diarization_threshold: ignored(FORM, 'concerns diarize, which is refused'),
  multichannel_output_style: ignored(FORM, 'concerns use_multi_channel, which is refused'),
  webhook_metadata: ignored(FORM, 'concerns webhook, which is refused'),
} as const satisfies Readonly<Record<string, OptionRow>>;

const VAD_ONLY = 'concerns commit_strategy vad, which is refused';

/** The socket `/v1/speech-to-text/realtime`: the query of the handshake, and messages. */
export const B_TRANSCRIPTION_SOCKET = {
  model_id: used(QUERY, optional(Type.String())),
  language_code: used(QUERY, optional(Spoken)),
  audio_format: used(QUERY, optional(Type.String({ default: 'pcm_16000' }))),
  include_timestamps: used(QUERY, Flag),
  include_language_detection: used(QUERY, Flag),
  token: used(QUERY, Type.String({ description: 'A single-use token, in place of a key' })),
  commit_strategy: refused(
    QUERY,
    'Audio is committed by the client: set commit_strategy to manual, or leave it out',
    { passes: ['manual'], evenUnset: true },
  ),
  timestamps_granularity: refused(QUERY, REFUSED_GRANULARITIES.why, { passes: GRANULARITIES }),
  ...refusedTranscription(QUERY),
  enable_logging: unlogged(QUERY),
  keyterms: keyterms(QUERY),
  ...allIgnored(
    ['vad_silence_threshold_secs', 'vad_threshold', 'min_speech_duration_ms', 'min_silence_duration_ms'],
    QUERY,
    VAD_ONLY,
  ),
  message_type: used(MESSAGE, Type.String()),
  audio_base_64: used(MESSAGE, Type.String()),
  commit: used(MESSAGE, Flag),
  sample_rate: used(MESSAGE, Type.Integer({ description: 'That of audio_format' })),
  previous_text: ignored(MESSAGE, 'the recogniser takes no text before'),
} as const satisfies Readonly<Record<string, OptionRow>>;

const { min: least, max: most, default: usual } = LIMITS.voice.pageSize;
const Text = (maxLength: number, description?: string) =>
  optional(Type.String({ maxLength, ...(description !== undefined && { description }) }));
const Texts = (maxLength: number) => optional(Type.Array(Type.String({ maxLength }), { maxItems: 100 }));

const NO_FIGURE = 'the voices have no such figure';

/** `GET /v2/voices`; lists are repeated parameters. */
export const B_VOICES = {
  next_page_token: used(QUERY, Text(2048)),
  page_size: used(QUERY, optional(Type.Integer({ minimum: least, maximum: most, default: usual }))),
  search: used(QUERY, Text(256, 'In name, description, labels and category')),
  sort: used(QUERY, optional(Type.Enum(['created_at_unix', 'name']))),
  sort_direction: used(QUERY, optional(Type.Enum(['asc', 'desc']))),
  voice_type: used(
    QUERY,
    optional(
      Type.Enum(['personal', 'community', 'default', 'workspace', 'non-default', 'non-community', 'saved']),
    ),
  ),
  category: used(QUERY, Text(64)),
  gender: used(QUERY, Text(64)),
  age: used(QUERY, Text(64)),
  accent: used(QUERY, Text(64)),
  language: used(QUERY, Texts(35), LIST),
  use_cases: used(QUERY, Texts(64), LIST),
  voice_ids: used(QUERY, Texts(128), LIST),
  ...allIgnored(
    [
      'collection_id',
      'fine_tuning_state',
      'high_quality',
      'include_custom_rates',
      'include_live_moderated',
      'min_notice_period_days',
    ],
    QUERY,
    NO_FIGURE,
  ),
  include_total_count: ignored(QUERY, 'the total is always known'),
} as const satisfies Readonly<Record<string, OptionRow>>;
