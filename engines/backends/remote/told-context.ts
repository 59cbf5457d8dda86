/**
 * What a service is told of expected speech: so many words and names as its field takes, and nothing that it would refuse. A service that
 * refuses the field nevertheless is asked again without it, and from then on without it: nothing was transcribed.
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

/** Errors: those of `ask`. */
export function toldUnlessRefused(ask: TranscribePiece): TranscribePiece {
  let isRefused = false;
  return async (wav, { context, ...options }, signal) => {
    if (context === undefined || isRefused) return ask(wav, options, signal);
    try {
      return await ask(wav, { ...options, context }, signal);
    } catch (error) {
      if (!isRefusalOf(error, CONTEXT)) throw error;
      isRefused = true;
      return ask(wav, options, signal);
    }
  };
}

/** As queries and forms have a list: a field for each. */
export const fieldsOf = (
  name: string,
  { terms = [] }: Partial<SpeechContext>,
  bounds: TermBounds,
): [string, string][] => termsWithin(terms, bounds).map((term) => [name, term]);
