/**
 * The native synthesis fields that every API shares (docs/contract/native.md 1.2): their schema, and their
 * translation for the speech port. Text, format and sample rate are excluded: each dialect has its own.
 * Access from other APIs (rule 4) is in option-sources.ts.
 */
import { MP3_BITRATES, OPUS_BITRATE_AUTOMATIC, OPUS_BITRATES } from '../audio.js';
import { ServiceError } from '../errors.js';
import { LIMITS } from '../limits.js';
import type { SynthesisRequest } from '../ports/speech/speech.js';
import type { Latency, ReferenceAudio, Sampling } from '../ports/speech/tts.js';
import { type Static, type TSchema, Type } from './type.js';

const native = LIMITS.native;

const numberIn = (bounds: { min: number; max: number }, extra: object = {}) =>
  Type.Number({ minimum: bounds.min, maximum: bounds.max, ...extra });

const integerIn = (bounds: { min: number; max: number }, extra: object = {}) =>
  Type.Integer({ minimum: bounds.min, maximum: bounds.max, ...extra });

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

/** `opus_bitrate` as clients write it: automatic, in bit/s, or in kbit/s, which older clients still send. */
const WRITTEN_OPUS_BITRATES = [
  OPUS_BITRATE_AUTOMATIC,
  ...OPUS_BITRATES,
  ...OPUS_BITRATES.map((bitrate) => bitrate / 1000),
];

export const Prosody = Type.Object({
  speed: optional(numberIn(native.speed, { default: 1 })),
  volume: optional(numberIn(native.volumeDb, { default: 0, description: 'dB' })),
  normalize_loudness: optional(
    Type.Boolean({ description: 'Default: true, but for remote engines, whose loudness is left as it is.' }),
  ),
});

export const NativeOptions = Type.Object({
  reference_id: optional(
    Type.Union([
      Type.String({
        maxLength: native.referenceIdLength.max,
        pattern: '^[A-Za-z0-9_-]*$',
        description: 'Voice id; empty or `default` selects the default voice.',
      }),
      Type.Array(Type.String({ maxLength: native.referenceIdLength.max, pattern: '^[A-Za-z0-9_-]+$' }), {
        minItems: native.speakers.min,
        maxItems: native.speakers.max,
        description: 'The voices of `<|speaker:0|>`, `<|speaker:1|>` …; needs an engine that speaks several.',
      }),
    ]),
  ),
  references: optional(Type.Unknown({ description: 'Reference audio `{audio, text}[]`.' })),
  prosody: optional(Prosody),
  temperature: optional(numberIn(native.temperature)),
  top_p: optional(numberIn(native.topP)),
  repetition_penalty: optional(numberIn(native.repetitionPenalty)),
  chunk_length: optional(integerIn(native.chunkLength, { default: 300 })),
  min_chunk_length: optional(integerIn(native.minChunkLength, { default: 50 })),
  condition_on_previous_chunks: optional(Type.Boolean({ default: true })),
  early_stop_threshold: optional(numberIn(native.earlyStopThreshold)),
  max_new_tokens: optional(integerIn(native.maxNewTokens)),
  normalize: optional(
    Type.Boolean({
      default: true,
      description: 'Whether numbers are written out; some engines always do.',
    }),
  ),
  mp3_bitrate: optional(Type.Enum(MP3_BITRATES, { default: 128, description: 'kbit/s' })),
  opus_bitrate: optional(
    Type.Enum(WRITTEN_OPUS_BITRATES, { default: OPUS_BITRATE_AUTOMATIC, description: 'bit/s' }),
  ),
  latency: optional(Type.Enum(['low', 'normal', 'balanced'], { default: 'normal' })),
  features: optional(Type.Array(Type.String(), { maxItems: native.features })),
});
export type NativeOptions = Static<typeof NativeOptions>;

const speakersOf = (
  referenceId: NativeOptions['reference_id'],
): Pick<SynthesisRequest, 'voice' | 'speakers'> =>
  Array.isArray(referenceId) ? { voice: '', speakers: referenceId } : { voice: referenceId ?? '' };

/** Uses the native API's own message. `param`: the client's name of the field. */
export const invalidReferences = (param = 'references'): ServiceError =>
  new ServiceError('invalid_request', {
    message: 'Reference Audio is not valid, please check your reference audio',
    param,
  });

export const isReference = (value: unknown): value is ReferenceAudio => {
  const { audio, text } = (value ?? {}) as Partial<ReferenceAudio>;
  return audio instanceof Uint8Array && audio.length > 0 && typeof text === 'string';
};

/** Reference audio with its text, for zero-shot cloning. */
function referencesOf(value: unknown): readonly ReferenceAudio[] {
  if (value === undefined) return [];
  const list: unknown[] | undefined = Array.isArray(value) ? value.flat(1) : undefined;
  if (list?.every(isReference)) return list;
  throw invalidReferences();
}

/** The fields that only engines use, each with its name in `Sampling`. */
export const SAMPLING_FIELDS = {
  temperature: 'temperature',
  top_p: 'topP',
  repetition_penalty: 'repetitionPenalty',
  min_chunk_length: 'minChunkLength',
  condition_on_previous_chunks: 'conditionOnPreviousChunks',
  early_stop_threshold: 'earlyStopThreshold',
  max_new_tokens: 'maxNewTokens',
  features: 'features',
} as const satisfies Partial<Record<keyof NativeOptions, keyof Sampling>>;

const SAMPLING_ENTRIES = Object.entries(SAMPLING_FIELDS) as [keyof typeof SAMPLING_FIELDS, keyof Sampling][];

function samplingOf(options: NativeOptions): Sampling {
  const sampling: Partial<Record<keyof Sampling, unknown>> = {};
  for (const [field, name] of SAMPLING_ENTRIES)
    if (options[field] !== undefined) sampling[name] = options[field];
  return sampling as Sampling;
}

/** The part of a synthesis request that these options determine; the dialect adds the rest. */
export type NativeSynthesis = Pick<
  SynthesisRequest,
  | 'voice'
  | 'speakers'
  | 'references'
  | 'latency'
  | 'speed'
  | 'volume'
  | 'normalizeLoudness'
  | 'chunkLength'
  | 'normalize'
  | 'sampling'
>;

interface Defaults {
  readonly latency: Latency;
  readonly speed?: number;
  /** The voice of the dialect's own field. Reference audio takes precedence, because clients always send a voice. */
  voice?(): string;
}

/** Reference audio must be bytes. Errors: `invalid_request`, and those of `defaults.voice`. */
export function toNativeSynthesis(options: NativeOptions, defaults: Defaults): NativeSynthesis {
  const references = referencesOf(options.references);
  const isNamed = options.reference_id !== undefined || references.length > 0;
  const loudness = options.prosody?.normalize_loudness;
  return {
    ...speakersOf(isNamed ? options.reference_id : defaults.voice?.()),
    references,
    latency: options.latency ?? defaults.latency,
    speed: options.prosody?.speed ?? defaults.speed ?? 1,
    volume: options.prosody?.volume ?? 0,
    ...(loudness === undefined ? {} : { normalizeLoudness: loudness }),
    chunkLength: options.chunk_length ?? 300,
    ...(options.normalize === undefined ? {} : { normalize: options.normalize }),
    sampling: samplingOf(options),
  };
}
