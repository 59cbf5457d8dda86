/**
 * Cuts text into the runs of the program: sentences, because a run is synchronous and all others wait for its end. For the
 * same reason a run is bounded by the length of its speech, not of its text: digits, signs and lone letters are read
 * out one by one.
 */
import { cutText } from '../../text/text-pieces.js';

/** The pipeline has already cut the text; this bounds a run for any caller. */
const RUN_LENGTH = 300;
/** In lower-case letters at the voice's own pace: 40 s of speech, half a second of work. */
const RUN_WEIGHT = 600;
const SPELT_OUT = /[A-Z0-9]|[^\w\s.,;:!?'"()-]|\b[a-z]\b/gu;
const SPELT_OUT_WEIGHT = 6;

const weightOf = (text: string): number =>
  text.length + (text.match(SPELT_OUT)?.length ?? 0) * (SPELT_OUT_WEIGHT - 1);

/** The runs of a text spoken at `speed`, in order, none empty. */
export function* runsOf(text: string, speed: number): Generator<string> {
  for (const piece of cutText(text, { latency: 'balanced', chunkLength: RUN_LENGTH })) {
    const excess = weightOf(piece) / speed / RUN_WEIGHT;
    if (excess <= 1) yield piece;
    else yield* cutText(piece, { latency: 'normal', chunkLength: Math.ceil(piece.length / excess) });
  }
}
