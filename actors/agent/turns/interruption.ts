/**
 * Barge-in: what the user's voice does to an agent that speaks or is about to. The table of overlap class and
 * `interruption_sensitivity` (the classes of Full-Duplex-Bench 1.5).
 *
 * Voice activity and transcripts tell noise (no words), a backchannel (only words of agreement) and speech apart.
 * They cannot tell whom speech is meant for: talking to somebody else, and speech in the background that is loud
 * enough to be transcribed, are `speech` here and treated as an interruption. `low` asks for more words before it
 * yields, which spares the agent a short aside; nothing spares it a long one.
 */
import type { Sensitivity } from '../settings.js';

export type Overlap = 'noise' | 'backchannel' | 'speech';

/** `later`: the agent goes on, and answers when it has finished. */
export type Verdict = 'ignore' | 'later' | 'interrupt';

interface Row {
  /** Milliseconds of voice that pause the agent, before any word is known; null: never. */
  readonly pauseAfterMs: number | null;
  /** Whole words of `speech` that interrupt at once, while the user still speaks. */
  readonly words: number;
  readonly noise: Verdict;
  readonly backchannel: Verdict;
  /** `speech` of fewer words, once the user has stopped. */
  readonly fewWords: Verdict;
}

/**
 * A cough lasts 200 to 350 ms, and the detector hears it 250 ms longer. A pause for one is heard as a hesitation:
 * `balanced` waits until it is longer than that, `low` never pauses.
 */
export const INTERRUPTION: Readonly<Record<Sensitivity, Row>> = {
  low: { pauseAfterMs: null, words: 4, noise: 'ignore', backchannel: 'ignore', fewWords: 'later' },
  balanced: { pauseAfterMs: 600, words: 2, noise: 'ignore', backchannel: 'ignore', fewWords: 'interrupt' },
  high: { pauseAfterMs: 60, words: 1, noise: 'ignore', backchannel: 'interrupt', fewWords: 'interrupt' },
};

/** Parts Japanese and Chinese too, which have no blanks. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

const wordsOf = (text: string): string[] =>
  [...segmenter.segment(text.toLowerCase().replace(/['’-]/gu, ''))].flatMap(({ segment, isWordLike }) =>
    isWordLike ? [segment] : [],
  );

/** Words of somebody who listens. */
const BACKCHANNELS = new Set(
  wordsOf(
    'yeah yes yep yup ok okay right alright sure mhm mm hm hmm mmhm mmhmm uhhuh uh huh aha ah oh i see got it cool great ' +
      'nice wow exactly true indeed absolutely definitely of course thats that is all youre perfect good ' +
      'sí si claro vale ya oui ouais daccord bien voilà ja genau klar gut stimmt ach so ' +
      'うん はい ええ なるほど そう そうですね 嗯 对 好 好的 是 네 예 응 그래요 맞아요',
  ),
);

/** Longer than this it is not a backchannel, whatever its words. */
const BACKCHANNEL_WORDS = 4;

function overlapIn(words: readonly string[]): Overlap {
  if (words.length === 0) return 'noise';
  const agrees = words.length <= BACKCHANNEL_WORDS && words.every((word) => BACKCHANNELS.has(word));
  return agrees ? 'backchannel' : 'speech';
}

/**
 * `finished`: the user has stopped, and this is all that was said. Until then the last word may be half a word, which
 * a recogniser takes for any other ("right" for "write"): it does not count.
 */
const knownWords = (text: string, finished: boolean): string[] =>
  finished ? wordsOf(text) : wordsOf(text).slice(0, -1);

export const overlapOf = (text: string, finished = true): Overlap => overlapIn(knownWords(text, finished));

/** `finished` as above. */
export function verdictOf(text: string, sensitivity: Sensitivity, finished: boolean): Verdict | undefined {
  const row = INTERRUPTION[sensitivity];
  const known = knownWords(text, finished);
  const overlap = overlapIn(known);
  if (overlap === 'speech' && known.length >= row.words) return 'interrupt';
  if (!finished) return undefined;
  return overlap === 'speech' ? row.fewWords : row[overlap];
}
