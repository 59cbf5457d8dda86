/** Words that are expected, in the field that the model has for them. */
import { LIMITS } from '../../../contracts/limits.js';
import type { SpeechContext } from '../../../contracts/ports/speech/stt.js';
import { fieldsOf } from '../remote/told-context.js';

/** Names and phrases by newer models, single words by older ones, nothing by others (Whisper). */
const KEYTERMS = /^(?:nova-3|flux)/;
const KEYWORDS = /^(?:nova|enhanced|base)/;

/** Fields of the query. */
export function expectedBy(model: string, { terms = [] }: Partial<SpeechContext> = {}): [string, string][] {
  const bounds = LIMITS.remote.expected.keyterm;
  if (KEYTERMS.test(model)) return fieldsOf('keyterm', { terms }, bounds);
  if (!KEYWORDS.test(model)) return [];
  return fieldsOf('keywords', { terms: terms.flatMap((term) => term.split(/\s+/u)) }, bounds);
}
