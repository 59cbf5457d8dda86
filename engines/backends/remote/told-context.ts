/**
 * What a service is told of expected speech: so many words and names as its field takes, and nothing that it would refuse. A service that
 * refuses the field nevertheless is asked again without it, and from then on without it: nothing was transcribed. A socket that is open
 * when it refuses has had audio, which is not sent twice: only the next one is opened without it.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { SpeechContext } from '../../../contracts/ports/speech/stt.js';
import type { TranscribePiece } from './transcribe-piece.js';

/** Bounds of a service's field. */
export interface TermBounds {
  readonly terms: number;
  /** Of one term. */
  readonly characters: number;
  /** Of all of them, in UTF-8: no tokenizer makes more tokens of them. */
  readonly bytes: number;
}

/** Of names and other words; signs that a service gives a meaning, or refuses, are none of these. */
const TERM = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} .'’@&+_-]*$/u;
/** Most words of a term. */
const MOST_WORDS = 5;

const isTerm = (text: string, characters: number): boolean =>
  text.length <= characters && TERM.test(text) && text.split(/\s+/u).length <= MOST_WORDS;

/** The first terms that are within the bounds, each once. */
export function termsWithin(texts: readonly string[], bounds: TermBounds): readonly string[] {
  const terms = new Set<string>();
  let left = bounds.bytes;
  for (const text of texts) {
    if (terms.size >= bounds.terms) break;
    const term = text.trim();
    if (!isTerm(term, bounds.characters) || terms.has(term)) continue;
    left -= Buffer.byteLength(term);
    if (left < 0) break;
    terms.add(term);
  }
  return [...terms];
}

/** Statuses of a request that is refused for what it asks; nothing was transcribed. */
const REFUSED = new Set([400, 422]);

/** Whether the service refused something that its message names. */
export const isRefusalOf = (error: unknown, named: RegExp): error is ServiceError =>
  error instanceof ServiceError && REFUSED.has(error.status) && named.test(error.message);

const CONTEXT = /prompt|keyterm|keyword/i;

/** What a model of a service is told, as long as it does not refuse that. */
export class ToldContext {
  #isRefused = false;

  /** Errors: those of `ask`, which may be called twice. */
  async tell<T>(
    context: SpeechContext | undefined,
    ask: (told: { readonly context?: SpeechContext }) => Promise<T>,
  ): Promise<T> {
    if (context === undefined || this.#isRefused) return ask({});
    try {
      return await ask({ context });
    } catch (error) {
      if (!this.note(error)) throw error;
      return ask({});
    }
  }

  /** Takes note of a refusal; false if the error is another one. */
  note(error: unknown): boolean {
    const isRefusal = isRefusalOf(error, CONTEXT);
    this.#isRefused ||= isRefusal;
    return isRefusal;
  }
}

/** Errors: those of `ask`. */
export function toldUnlessRefused(ask: TranscribePiece): TranscribePiece {
  const told = new ToldContext();
  return (wav, { context, ...options }, signal) =>
    told.tell(context, (known) => ask(wav, { ...options, ...known }, signal));
}

/** As queries and forms have a list: a field for each. */
export const fieldsOf = (
  name: string,
  { terms = [] }: Partial<SpeechContext>,
  bounds: TermBounds,
): [string, string][] => termsWithin(terms, bounds).map((term) => [name, term]);
