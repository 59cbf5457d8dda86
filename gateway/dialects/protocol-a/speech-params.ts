/** Turns protocol A's speech body into a request for the speech port (docs/contract/protocol-a.md 1; rules 1, 2, 4, 7 to 10). */
import { isRefusedFormat, refusedFormat, resolveOutput } from '../../../codecs/formats.js';
import type { AudioFormat, OutputFormat } from '../../../contracts/audio.js';
import { isUnset } from '../../../contracts/schemas/coerce.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { inOrder, mappedOptions, type Source, type Sources } from '../../../contracts/options/mapping.js';
import { A_SPEECH, type VoiceParam } from '../../../contracts/options/protocol-a.js';
import { refuseOptions, withSpellings } from '../../../contracts/options/reading.js';
import { missingVoice } from '../../../contracts/speech/missing-voice.js';
import type { SynthesisModel } from '../../../contracts/speech/models.js';
import type { SynthesisRequest } from '../../../contracts/ports/speech/speech.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { namedSynthesisModel } from '../../../contracts/schemas/model-ids.js';
import { type NativeOptions, toNativeSynthesis } from '../../../contracts/schemas/native-options.js';
import {
  optionsFromHeaders,
  optionsFromObject,
  withDecodedReferences,
} from '../../../contracts/schemas/option-sources.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import type { Base } from './bases.js';
import { InputReferences, SpeechBody } from './schema.js';

const checkBody = checker(SpeechBody);
const checkInputReferences = checker(InputReferences);

/** Errors: `model_not_found`. */
export const synthesisModel = (id: string, vocabulary: Vocabulary): SynthesisModel =>
  namedSynthesisModel(id, vocabulary, 'model');

interface FormatRow {
  readonly format: AudioFormat;
  /** Default rate in Hz if it differs from the format's own (rule 8). */
  rate?(base: Base): number;
}

/** Names of `response_format`. */
const FORMATS: ReadonlyMap<string, FormatRow> = new Map<string, FormatRow>([
  ['mp3', { format: 'mp3' }],
  ['wav', { format: 'wav' }],
  ['pcm', { format: 'pcm', rate: ({ pcmRate }) => pcmRate }],
  ['pcm16', { format: 'pcm', rate: () => 24_000 }],
  ['opus', { format: 'opus' }],
]);

/** The format as a request names it; `param` is the field's name in that request. */
export interface NamedFormat {
  /** Undefined, empty or a word for neither (`null`) for the base's default. */
  readonly name: string | undefined;
  /** Hz */
  readonly sampleRate?: number | undefined;
  readonly param: string;
}

const unknownFormat = (name: string, param: string): ServiceError => {
  const message = isRefusedFormat(name)
    ? refusedFormat(`${param} to pcm`)
    : `${param} must be one of ${[...FORMATS.keys()].join(', ')}`;
  return new ServiceError('unsupported_format', { message, param });
};

/**
 * The output format. Opus chooses its bitrate itself; a requested one is ignored (rule 9). Errors: `unsupported_format`.
 */
export function speechOutput(
  { name: given, sampleRate, param }: NamedFormat,
  base: Base,
  options: NativeOptions,
): OutputFormat {
  const name = given === undefined || isUnset(given) ? base.defaultFormat : given;
  const row = FORMATS.get(name.toLowerCase());
  if (!row) throw unknownFormat(name, param);
  return resolveOutput(
    { format: row.format, sampleRate: sampleRate ?? row.rate?.(base), mp3Bitrate: options.mp3_bitrate },
    { sampleRate: 'sample_rate' },
  );
}

/** A voice id as the client wrote it. Errors: `voice_not_found` for one that no voice can have. */
export function voiceId(voice: VoiceParam | undefined, param = 'voice'): string {
  const id = typeof voice === 'object' ? voice.id : (voice ?? '');
  if (id.length > LIMITS.native.referenceIdLength.max) throw missingVoice(id, param);
  return id;
}

/** The aggregator's reference parts as native references. Errors: `invalid_request`. */
function nativeReferences(value: unknown): NativeOptions {
  const parts = valid(checkInputReferences(value), 'input_references');
  const audio = parts.flatMap((part) => (part.type === 'input_audio' ? [part.input_audio.data] : []));
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (parts.length === 0) return {};
  if (audio.length === 1 && text.length <= 1) {
    const references = [{ audio: audio[0], text: text[0] ?? '' }];
    return withDecodedReferences({ references }, 'input_references');
  }
  throw invalid(
    'input_references must hold one input_audio part and at most one text part',
    'input_references',
  );
}

export interface SpeechSource {
  readonly body: unknown;
  readonly headers: ReadonlyMap<string, string>;
}

/** Native options of `X-Svc-*` headers and of `provider.options`. */
export const carriedOptions = (
  headers: ReadonlyMap<string, string>,
  providerOptions: PlainObject | undefined,
  { headerPrefix, vendor }: Vocabulary,
): Sources => ({
  header: () => optionsFromHeaders(headers, headerPrefix),
  'provider.options': (stronger) =>
    optionsFromObject(providerOptions?.[vendor], `provider.options.${vendor}`, stronger),
});

function checkedBody(fields: unknown): SpeechBody {
  const body = valid(checkBody(fields));
  if (body.input.trim() === '') throw invalid('input must not be empty', 'input');
  return body;
}

const READERS = { input_references: nativeReferences };

const ownOptions = (fields: PlainObject, { aggregator }: Base): Source => {
  const mapping = { rows: A_SPEECH, aggregator, readers: READERS };
  return (stronger) => mappedOptions(fields, mapping, stronger);
};

/**
 * Errors: `invalid_request`, `unsupported_option`, `unsupported_format`, `model_not_found`, `voice_not_found`,
 * `speakers_unavailable`.
 */
export function speechRequest(source: SpeechSource, base: Base, vocabulary: Vocabulary): SynthesisRequest {
  const sent = withoutNulls(source.body);
  const fields = isPlainObject(sent) ? withSpellings(sent, A_SPEECH) : {};
  const body = checkedBody(isPlainObject(sent) ? fields : sent);
  refuseOptions(fields, A_SPEECH);
  const model = synthesisModel(body.model, vocabulary);
  const options = inOrder({
    ...carriedOptions(source.headers, body.provider?.options, vocabulary),
    body: ownOptions(fields, base),
  });
  const native = toNativeSynthesis(options, { latency: 'low', voice: () => voiceId(body.voice) });
  return {
    ...native,
    text: body.input,
    model,
    output: speechOutput(
      { name: body.response_format, sampleRate: body.sample_rate, param: 'response_format' },
      base,
      options,
    ),
  };
}
