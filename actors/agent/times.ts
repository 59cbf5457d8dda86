/** The times of an agent's machine, in ms. */
import { CALL_TIMES } from '../../contracts/call-times.js';

const SECOND = 1000;

export const TIMES = {
  /** A sound without a new word is noise from then on: nobody waits for it any longer. */
  noiseMs: 60 * SECOND,
  /** A transcript that is owed is waited for so long; one that comes later still is taken. */
  wordsMs: 60 * SECOND,
  /** How the user sounded is waited for so long behind the voice; what is known later counts while the silence lasts. */
  soundMs: 250,
  /**
   * Voice that begins before the answer has been heard for so long goes on with the sentence: nobody reacts sooner to
   * what an answer says. The answer is withdrawn, and the turn taken up again.
   */
  joinMs: 700,
  /** Tools that take longer are bridged with a filler. */
  fillerMs: 1 * SECOND,
  /** Whoever speaks this long before the agent ends has understood it, and answers: the agent says its last words. */
  endingMs: 1 * SECOND,
  /** Before the longest duration ends: the user is warned, and the agent's sentence is its last. */
  warnMs: 30 * SECOND,
  lastWordsMs: 6 * SECOND,
  /** docs/contract/decisions.md 13. */
  goneMs: CALL_TIMES.goneMs,
} as const;

/**
 * Silence on both sides before the agent breaks it: for the first time, the second … An agent that may hang up says
 * goodbye after the last, any other goes on at that rate.
 */
export const REENGAGE_MS: readonly [number, ...number[]] = [
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  60 * SECOND,
];

export const reengageMs = (times: number): number =>
  REENGAGE_MS[Math.min(times, REENGAGE_MS.length - 1)] ?? REENGAGE_MS[0];

/** Whether the next time is the last. */
export const isLastTime = (times: number): boolean => times >= REENGAGE_MS.length - 1;
