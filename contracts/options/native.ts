/** The options of the native API: which a request carries in its body, and which other dialects take from headers as well (rule 4). */
import { NativeOptions } from '../schemas/native-options.js';
import { Type } from '../schemas/type.js';
import { ignored, type OptionRow, used } from './row.js';

const { properties: native } = NativeOptions;

/** Other dialects carry native options here, the strongest place first. */
const CARRIED = ['header', 'provider.options'] as const;

/** Native options in requests of protocols A and B: `X-Svc-<Param>` headers and `provider.options.svc`. */
export const NATIVE_OPTIONS = {
  reference_id: used(CARRIED, native.reference_id),
  references: used(CARRIED, native.references),
  prosody: used(CARRIED, native.prosody),
  temperature: used(CARRIED, native.temperature),
  top_p: used(CARRIED, native.top_p),
  repetition_penalty: used(CARRIED, native.repetition_penalty),
  chunk_length: used(CARRIED, native.chunk_length),
  min_chunk_length: used(CARRIED, native.min_chunk_length),
  condition_on_previous_chunks: used(CARRIED, native.condition_on_previous_chunks),
  early_stop_threshold: used(CARRIED, native.early_stop_threshold),
  max_new_tokens: used(CARRIED, native.max_new_tokens),
  normalize: used(CARRIED, native.normalize),
  mp3_bitrate: used(CARRIED, native.mp3_bitrate),
  opus_bitrate: ignored(CARRIED, 'Opus chooses its bitrate itself (rule 9)'),
  latency: used(CARRIED, native.latency),
  features: used(CARRIED, native.features),
} as const satisfies Record<keyof NativeOptions, OptionRow>;

const BODY = ['body', 'message'] as const;

/** `POST /v1/tts` and its form with timestamps; of the live socket the `request` of a `start`. */
export const NATIVE_SPEECH = {
  text: used(BODY, Type.String({ description: 'What to say. Empty text gives empty audio.' })),
  reference_id: used(BODY, native.reference_id),
  references: used(
    BODY,
    Type.Optional(
      Type.Unknown({ description: 'Reference audio `{audio, text}[]`; MessagePack bodies only.' }),
    ),
  ),
  prosody: used(BODY, native.prosody),
  temperature: used(BODY, native.temperature),
  top_p: used(BODY, native.top_p),
  repetition_penalty: used(BODY, native.repetition_penalty),
  chunk_length: used(BODY, native.chunk_length),
  min_chunk_length: used(BODY, native.min_chunk_length),
  condition_on_previous_chunks: used(BODY, native.condition_on_previous_chunks),
  early_stop_threshold: used(BODY, native.early_stop_threshold),
  max_new_tokens: used(BODY, native.max_new_tokens),
  normalize: used(BODY, native.normalize),
  mp3_bitrate: used(BODY, native.mp3_bitrate),
  opus_bitrate: used(BODY, native.opus_bitrate),
  latency: used(BODY, native.latency),
  features: used(BODY, native.features),
  format: used(BODY, Type.Optional(Type.Enum(['wav', 'pcm', 'mp3', 'opus'], { default: 'mp3' }))),
  sample_rate: used(
    BODY,
    Type.Optional(Type.Integer({ description: 'Hz; 44100 by default, 48000 for opus.' })),
  ),
  model: used(['header'], Type.Optional(Type.String({ description: 'An unknown one means the default' }))),
} as const;

const FORM = ['form', 'body'] as const;

/** `POST /v1/asr`. */
export const NATIVE_TRANSCRIPTION = {
  audio: used(['form'], Type.String({ format: 'binary' })),
  language: used(FORM, Type.Optional(Type.String({ maxLength: 16, description: 'ISO 639-1 hint' }))),
  ignore_timestamps: used(FORM, Type.Optional(Type.Boolean({ default: true }))),
} as const;
