/** Models and languages as protocol B's clients name them (docs/contract/decisions.md "Models and voices"). */
import { ServiceError } from '../../../contracts/errors.js';
import { LANGUAGE_CODES, type LanguageCode } from '../../../contracts/speech/languages.js';
import {
  DEFAULT_SYNTHESIS_MODEL,
  type SynthesisModel,
  type TranscriptionModel,
} from '../../../contracts/speech/models.js';
import { namedSynthesisModel, namedTranscriptionModel } from '../../../contracts/schemas/model-ids.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';

type Vendor = Pick<Vocabulary, 'vendor'>;

/** An absent or empty id selects the default. Errors: `model_not_found`. */
export const synthesisModel = (id: string | undefined, vendor: Vendor): SynthesisModel =>
  id ? namedSynthesisModel(id, vendor, 'model_id') : DEFAULT_SYNTHESIS_MODEL;

/** Errors: `model_not_found`. */
export const transcriptionModel = (id: string, vendor: Vendor): TranscriptionModel =>
  namedTranscriptionModel(id, vendor, 'model_id');

/** ISO 639-3 codes, which clients of this protocol send as well. */
const LONG_CODES: Readonly<Record<string, LanguageCode>> = {
  eng: 'en',
  jpn: 'ja',
  zho: 'zh',
  cmn: 'zh',
  kor: 'ko',
  spa: 'es',
  fra: 'fr',
  deu: 'de',
  ara: 'ar',
  ell: 'el',
  heb: 'he',
  hin: 'hi',
  ita: 'it',
  nld: 'nl',
  pol: 'pl',
  por: 'pt',
  rus: 'ru',
  tha: 'th',
  tur: 'tr',
  ukr: 'uk',
  vie: 'vi',
};

/** The language in ISO 639-1, without region, if the code is known; else the code itself, in lower case. */
export function languageCode(code: string): string {
  const bare = code.trim().toLowerCase().split(/[-_]/, 1)[0] ?? '';
  return LONG_CODES[bare] ?? bare;
}

/** The language to speak; undefined if none is named. Errors: `language_unavailable`. */
export function spokenLanguage(code: string | undefined): LanguageCode | undefined {
  if (!code) return undefined;
  const language = languageCode(code);
  if (LANGUAGE_CODES.includes(language)) return language;
  throw new ServiceError('language_unavailable', { param: 'language_code' });
}
