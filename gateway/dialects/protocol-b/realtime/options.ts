/**
 * The options in the query of the realtime socket (docs/contract/protocol-b.md 5; rules 2, 3, 6; "Refused options").
 * Unknown names are ignored; the last of a repeated scalar counts.
 */
import { booleanOf, isUnset } from '../../../../contracts/schemas/coerce.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { B_TRANSCRIPTION_SOCKET } from '../../../../contracts/options/protocol-b.js';
import { queryFields, refuseOptions } from '../../../../contracts/options/reading.js';
import { DEFAULT_TRANSCRIPTION_MODEL, type TranscriptionModel } from '../../../../contracts/speech/models.js';
import type { TranscriptionRequest } from '../../../../contracts/ports/speech/speech.js';
import type { Vocabulary } from '../../../../contracts/vocabulary.js';
import { languageCode, transcriptionModel } from '../catalogue.js';

export interface TranscriptionOptions {
  readonly model: TranscriptionModel;
  /** Exactly what the client sent; empty if it sent none. */
  readonly language: string;
  /** The name of the audio's format, and its rate in Hz. */
  readonly audioFormat: string;
  readonly sampleRate: number;
  readonly timestamps: boolean;
  readonly languageDetection: boolean;
  /** Words to expect. */
  readonly terms: readonly string[];
}

const RATES: Readonly<Record<string, number>> = {
  pcm_8000: 8000,
  pcm_16000: 16_000,
  pcm_22050: 22_050,
  pcm_24000: 24_000,
  pcm_44100: 44_100,
  pcm_48000: 48_000,
};
const DEFAULT_FORMAT = 'pcm_16000';

function rateOf(format: string): number {
  const rate = Object.hasOwn(RATES, format) ? RATES[format] : undefined;
  if (rate !== undefined) return rate;
  const message = `audio_format must be one of ${Object.keys(RATES).join(', ')}`;
  throw new ServiceError('unsupported_format', { message, param: 'audio_format' });
}

/** Errors: `invalid_request`. */
function termsIn(query: URLSearchParams): readonly string[] {
  const terms = query.getAll('keyterms').filter((term) => !isUnset(term));
  const most = LIMITS.transcription.keyterms;
  if (terms.length <= most) return terms;
  throw new ServiceError('invalid_request', {
    message: `keyterms must have at most ${most} items`,
    param: 'keyterms',
  });
}

/** Errors: `model_not_found`, `unsupported_format`, `unsupported_option`. */
export function sessionOptions(query: URLSearchParams, vocabulary: Vocabulary): TranscriptionOptions {
  refuseOptions(queryFields(query, B_TRANSCRIPTION_SOCKET), B_TRANSCRIPTION_SOCKET);
  const last = (name: string): string | undefined => query.getAll(name).at(-1);
  const given = (name: string): string | undefined => (isUnset(last(name)) ? undefined : last(name));
  const audioFormat = given('audio_format') ?? DEFAULT_FORMAT;
  const id = given('model_id');
  return {
    model: id ? transcriptionModel(id, vocabulary) : DEFAULT_TRANSCRIPTION_MODEL,
    language: given('language_code') ?? '',
    audioFormat,
    sampleRate: rateOf(audioFormat),
    timestamps: booleanOf(last('include_timestamps')) === true,
    languageDetection: booleanOf(last('include_language_detection')) === true,
    terms: termsIn(query),
  };
}

/** What the engine is told of the words: their language, absent if none was named, and which are expected. */
export const hintOf = ({
  language,
  terms,
}: TranscriptionOptions): Pick<TranscriptionRequest, 'language' | 'terms'> => {
  const code = languageCode(language);
  return { terms, ...(code !== '' && { language: code }) };
};
