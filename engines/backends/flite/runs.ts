/**
 * Cuts text into the runs of the program: sentences, because a run is synchronous and all others wait for its end. For the
 * same reason a run is bounded by its work, not by the length of its text: digits, signs and lone letters are read out one by
 * one, and letters without a blank between them take longer than words.
 */
import { cutText } from '../../text/text-pieces.js';

/** The pipeline has already cut the text; this bounds a run for any caller. */
const RUN_LENGTH = 300;
/** In letters of words at the voice's own pace: the longest run of words, with capitals and figures, is 20 s of speech, in a quarter second. */
const RUN_WEIGHT = 400;
const SPELT_OUT = /[A-Z0-9]|[^\w\s.,;:!?'"()-]|\b[a-z]\b/gu;
const SPELT_OUT_WEIGHT = 6;
/** Longer than any word that is spoken as one. */
const NO_WORD = /\S{40,}/gu;
const NO_WORD_WEIGHT = 6;

function weightOf(text: string): number {
  const spelt = text.match(SPELT_OUT)?.length ?? 0;
  const noWords = (text.match(NO_WORD) ?? []).join('').length;
  return text.length + spelt * (SPELT_OUT_WEIGHT - 1) + noWords * (NO_WORD_WEIGHT - 1);
}

/** The runs of a text spoken at `speed`, in order, none empty. */
export function* runsOf(text: string, speed: number): Generator<string> {
  for (const piece of cutText(text, { latency: 'balanced', chunkLength: RUN_LENGTH })) {
    const excess = weightOf(piece) / speed / RUN_WEIGHT;
    if (excess <= 1) yield piece;
    else yield* cutText(piece, { latency: 'normal', chunkLength: Math.ceil(piece.length / excess) });
  }
}
