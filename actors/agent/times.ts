/** The times of an agent's machine, in ms. */
import { ONLINE_TIMES } from '../../contracts/limits/online-times.js';
import { CALL_TIMES } from '../../contracts/limits/call-times.js';

const SECOND = 1000;

export const TIMES = {
  /** A sound without a new word for this long counts as noise; nothing waits for it any more. */
  noiseMs: 60 * SECOND,
  /** A voice in which no words are found for this long, a crowd for instance, holds no effect back any more. */
  wordlessMs: 3 * SECOND,
  /** Voice of at least this length in which no words are found was unclear, if the agent listened; a shorter one is a cough. */
  unclearMs: 0.5 * SECOND,
  /** Voice before it is noticed: two frames of the detector's. */
  noticedMs: 64,
  /** Longest wait for an owed transcript; a later one is still accepted. */
  wordsMs: 60 * SECOND,
  /** Longest wait, after the voice, for the detector by sound; a later answer still counts while the silence lasts. */
  soundMs: 250,
  /**
   * Voice that begins before this much of the answer was heard continues the user's turn, as nobody reacts to an answer
   * that fast. The answer is withdrawn, and the turn continues.
   */
  joinMs: 700,
  /** Tools that take longer than this get a filler. */
  fillerMs: ONLINE_TIMES.filler.toolMs,
  /** An answer gets one if the user has been silent this long, less than it takes to notice that; but not before the second one. */
  waitedMs: ONLINE_TIMES.filler.silenceMs - 250,
  fillerLeastMs: ONLINE_TIMES.filler.leastMs,
  /** A silence longer than this is no wait for the answer. */
  waitMs: 20 * SECOND,
  /** The next filler, after the one before was heard; which counts as heard after the second time. */
  fillerAgainMs: ONLINE_TIMES.filler.againMs,
  fillerHeardMs: ONLINE_TIMES.filler.heardMs,
  /** A user who begins this close to the agent's end has understood it and answers, so the agent finishes its last words. */
  endingMs: 1 * SECOND,
  /** The silence of both sides is counted in these. */
  silenceMs: 1 * SECOND,
  /** A question into a silence that ends the call sooner than this would leave no time for an answer. */
  replyMs: 5 * SECOND,
  /** Before the maximum duration: `warnMs` when the user is warned, `lastWordsMs` when the agent's sentence becomes its last. */
  warnMs: 30 * SECOND,
  lastWordsMs: 6 * SECOND,
  /** docs/contract/decisions.md 13. */
  goneMs: CALL_TIMES.goneMs,
} as const;

/**
 * Silence on both sides before the agent breaks it: the first time, the second … After the last, an agent that may hang
 * up says goodbye; any other keeps breaking the silence at that rate.
 */
export const REENGAGE_MS: readonly [number, ...number[]] = [
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  60 * SECOND,
];

export const reengageMs = (times: number): number =>
  REENGAGE_MS[Math.min(times, REENGAGE_MS.length - 1)] ?? REENGAGE_MS[0];

/** Turns in a row without a word that are answered: whoever is never understood is in a noisy room. */
export const MOST_UNCLEAR_TURNS = 2;

export const isLastTime = (times: number): boolean => times >= REENGAGE_MS.length - 1;
