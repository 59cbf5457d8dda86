/** Models and languages as protocol B's clients name them (decisions.md "Models, voices"). */
import { ServiceError } from '../../../contracts/errors.js';
import { isLanguage, type Language } from '../../../contracts/languages.js';
import {
  DEFAULT_SYNTHESIS_MODEL,
  type SynthesisModel,
  type TranscriptionModel,
} from '../../../contracts/models.js';
import { namedSynthesisModel, namedTranscriptionModel } from '../../../contracts/schemas/model-ids.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';

type Vendor = Pick<Vocabulary, 'vendor'>;

/** Absent or empty selects the default. Errors: `model_not_found`. */
export const synthesisModel = (id: string | undefined, vendor: Vendor): SynthesisModel =>
  id ? namedSynthesisModel(id, vendor, 'model_id') : DEFAULT_SYNTHESIS_MODEL;

/** Errors: `model_not_found`. */
export const transcriptionModel = (id: string, vendor: Vendor): TranscriptionModel =>
  namedTranscriptionModel(id, vendor, 'model_id');

/** ISO 639-3, which clients of this protocol write as well. */
const LONG_CODES: Readonly<Record<string, Language>> = {
  eng: 'en',
  jpn: 'ja',
  zho: 'zh',
  cmn: 'zh',
  kor: 'ko',
  spa: 'es',
  fra: 'fr',
  deu: 'de',
};

/** The code's language in ISO 639-1, without region, where we know it; else the code as it is, in lower case. */
export function languageCode(code: string): string {
  const bare = code.trim().toLowerCase().split(/[-_]/, 1)[0] ?? '';
  return LONG_CODES[bare] ?? bare;
}

/** The language to speak; undefined where none is named. Errors: `language_unavailable`. */
export function spokenLanguage(code: string | undefined): Language | undefined {
  if (!code) return undefined;
  const language = languageCode(code);
  if (isLanguage(language)) return language;
  throw new ServiceError('language_unavailable', { param: 'language_code' });
}
