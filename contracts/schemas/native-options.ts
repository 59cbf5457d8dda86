/**
 * The native synthesis fields that every API shares (native-and-platform.md 1.2): their schema, how they come
 * out of `X-Svc-*` headers and option objects (spec rule 4), and what they mean to the speech port. Text, format
 * and sample rate are not among them: each dialect has its own.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { MP3_BITRATES } from '../audio.js';
import { decodeBase64 } from '../base64.js';
import { booleanOf } from '../coerce.js';
import { ServiceError } from '../errors.js';
import { LIMITS } from '../limits.js';
import type { Latency, SynthesisRequest } from '../ports/speech.js';
import type { ReferenceAudio, Sampling } from '../ports/tts.js';
import { checker, withoutNulls } from './check.js';

const native = LIMITS.native;

const within = (bounds: { min: number; max: number }, extra: object = {}) =>
  Type.Number({ minimum: bounds.min, maximum: bounds.max, ...extra });

const wholeWithin = (bounds: { min: number; max: number }, extra: object = {}) =>
  Type.Integer({ minimum: bounds.min, maximum: bounds.max, ...extra });

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

/** bit/s, the older kbit/s values that clients still send, and -1000 for automatic. */
export const OPUS_BITRATES = [-1000, 24_000, 32_000, 48_000, 64_000, 24, 32, 48, 64] as const;

export const Prosody = Type.Object({
  speed: optional(within(native.speed, { default: 1 })),
  volume: optional(within(native.volumeDb, { default: 0, description: 'dB' })),
  normalize_loudness: optional(Type.Boolean({ default: true })),
});

export const NativeOptions = Type.Object({
  reference_id: optional(
    Type.Union([
      Type.String({
        maxLength: native.referenceIdLength.max,
        pattern: '^[A-Za-z0-9_-]*$',
        description: 'Voice id; empty or `default` selects the default voice.',
      }),
      Type.Array(Type.String(), { description: 'Several voices; needs an engine with speakers.' }),
    ]),
  ),
  references: optional(Type.Unknown({ description: 'Reference audio `{audio, text}[]`.' })),
  prosody: optional(Prosody),
  temperature: optional(within(native.temperature)),
  top_p: optional(within(native.topP)),
  repetition_penalty: optional(within(native.repetitionPenalty)),
  chunk_length: optional(wholeWithin(native.chunkLength, { default: 300 })),
  min_chunk_length: optional(wholeWithin(native.minChunkLength, { default: 50 })),
  condition_on_previous_chunks: optional(Type.Boolean({ default: true })),
  early_stop_threshold: optional(within(native.earlyStopThreshold)),
  max_new_tokens: optional(wholeWithin(native.maxNewTokens)),
  normalize: optional(Type.Boolean({ default: true })),
  mp3_bitrate: optional(Type.Enum(MP3_BITRATES, { default: 128, description: 'kbit/s' })),
  opus_bitrate: optional(Type.Enum(OPUS_BITRATES, { default: -1000, description: 'bit/s' })),
  latency: optional(Type.Enum(['low', 'normal', 'balanced'], { default: 'normal' })),
  features: optional(Type.Array(Type.String(), { maxItems: native.features })),
});
export type NativeOptions = Static<typeof NativeOptions>;

type Fields = Readonly<Record<string, unknown>>;
type OptionName = keyof NativeOptions;

const OPTION_NAMES = Object.keys(NativeOptions.properties) as readonly OptionName[];

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

const isBoolean = (schema: TSchema | undefined): boolean =>
  (schema as { readonly type?: unknown } | undefined)?.type === 'boolean';

/** Rule 3 for the boolean fields of an object; what stands for no boolean is left for the schema to refuse. */
function withBooleans(value: unknown, properties: Readonly<Record<string, TSchema>>): unknown {
  if (!isFields(value)) return value;
  const coerced = Object.entries(value).map(([name, member]) => [
    name,
    isBoolean(properties[name]) ? (booleanOf(member) ?? member) : member,
  ]);
  return Object.fromEntries(coerced) as Fields;
}

/** A voice id of digits alone is text, although it parses as a number. */
const TEXT_OPTIONS: ReadonlySet<OptionName> = new Set(['reference_id', 'latency']);

function headerValue(name: OptionName, text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return TEXT_OPTIONS.has(name) && typeof parsed === 'number' ? text : parsed;
  } catch {
    return text;
  }
}

const checkOptions = checker(NativeOptions);

/** One source of options, checked; `spelled` is how its client spells a field. Unknown fields are left out. */
function optionsFrom(source: Fields, spelled: (name: string) => string): NativeOptions {
  const known = Object.fromEntries(
    OPTION_NAMES.filter((name) => Object.hasOwn(source, name)).map((name) => [name, source[name]]),
  );
  const present = withoutNulls(known) as { prosody?: unknown };
  const coerced = withBooleans(
    present.prosody === undefined
      ? present
      : { ...present, prosody: withBooleans(present.prosody, Prosody.properties) },
    NativeOptions.properties,
  );
  const checked = checkOptions(coerced);
  if (checked.ok) return checked.value;
  const [{ message, loc }] = checked.problems;
  throw new ServiceError('invalid_request', { message, param: spelled(loc.join('.')) });
}

const headerName = (prefix: string, option: string): string =>
  prefix + option.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('-');

/** Whether the request carries any header with the prefix, known or not (spec rule 6). */
export const hasOptionHeaders = (headers: ReadonlyMap<string, string>, prefix: string): boolean =>
  [...headers.keys()].some((name) => name.startsWith(prefix.toLowerCase()));

/**
 * Options out of `X-Svc-<Param>` headers: JSON where it parses, text else; an empty one is absent, names that
 * are no option are ignored. `prefix` as in the vocabulary, header names in lower case. Errors: `invalid_request`.
 */
export function optionsFromHeaders(headers: ReadonlyMap<string, string>, prefix: string): NativeOptions {
  const found = OPTION_NAMES.flatMap((name) => {
    const text = headers.get(headerName(prefix, name).toLowerCase())?.trim();
    return text ? [[name, headerValue(name, text)] as const] : [];
  });
  return optionsFrom(Object.fromEntries(found), (name) => headerName(prefix, name));
}

/** Options out of an object of a request's body at `path`, `provider.options.svc`. Errors: `invalid_request`. */
export function optionsFromObject(value: unknown, path: string): NativeOptions {
  const spelled = (name: string): string => [path, name].filter((part) => part !== '').join('.');
  if (value === undefined || value === null) return {};
  if (isFields(value)) return optionsFrom(value, spelled);
  throw new ServiceError('invalid_request', { message: `${path} must be of type object`, param: path });
}

/** The first source that has a field wins it, those of prosody one by one. */
export function mergeOptions(...strongestFirst: readonly NativeOptions[]): NativeOptions {
  const weakestFirst = strongestFirst.toReversed();
  const prosody = Object.assign({}, ...weakestFirst.map((options) => options.prosody)) as NativeOptions['prosody'];
  return Object.assign({}, ...weakestFirst, { prosody }) as NativeOptions;
}

function voiceOf(referenceId: NativeOptions['reference_id']): string {
  if (Array.isArray(referenceId)) throw new ServiceError('speakers_unavailable', { param: 'reference_id' });
  return referenceId ?? '';
}

const invalidReferences = (): ServiceError =>
  new ServiceError('invalid_request', {
    message: 'Reference Audio is not valid, please check your reference audio',
    param: 'references',
  });

const isReference = (value: unknown): value is ReferenceAudio => {
  const { audio, text } = (value ?? {}) as Partial<ReferenceAudio>;
  return audio instanceof Uint8Array && audio.length > 0 && typeof text === 'string';
};

function decodeReference(value: unknown): unknown {
  const { audio, text } = (value ?? {}) as { readonly audio?: unknown; readonly text?: unknown };
  return { audio: typeof audio === 'string' ? decodeBase64(audio) : undefined, text };
}

/** Options whose reference audio is base64 in JSON, with the bytes in its place. Errors: `invalid_request`. */
export function withDecodedReferences(options: NativeOptions): NativeOptions {
  if (options.references === undefined) return options;
  if (!Array.isArray(options.references)) throw invalidReferences();
  return { ...options, references: options.references.map(decodeReference) };
}

function referencesOf(value: unknown): readonly ReferenceAudio[] {
  if (value === undefined) return [];
  const list: unknown[] | undefined = Array.isArray(value) ? value.flat(1) : undefined;
  if (list?.every(isReference)) return list;
  throw invalidReferences();
}

function samplingOf(options: NativeOptions): Sampling {
  return {
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.top_p === undefined ? {} : { topP: options.top_p }),
    ...(options.repetition_penalty === undefined ? {} : { repetitionPenalty: options.repetition_penalty }),
  };
}

/** What the options say of a request; the rest of it is the dialect's. */
export type NativeSynthesis = Pick<
  SynthesisRequest,
  'voice' | 'references' | 'latency' | 'speed' | 'volume' | 'normalizeLoudness' | 'chunkLength' | 'sampling'
>;

/** Reference audio must be bytes. Errors: `invalid_request`, `speakers_unavailable`. */
export function toNativeSynthesis(
  options: NativeOptions,
  defaults: { readonly latency: Latency; readonly speed?: number },
): NativeSynthesis {
  return {
    voice: voiceOf(options.reference_id),
    references: referencesOf(options.references),
    latency: options.latency ?? defaults.latency,
    speed: options.prosody?.speed ?? defaults.speed ?? 1,
    volume: options.prosody?.volume ?? 0,
    normalizeLoudness: options.prosody?.normalize_loudness ?? true,
    chunkLength: options.chunk_length ?? 300,
    sampling: samplingOf(options),
  };
}
