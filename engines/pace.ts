/**
 * A requested speed, in two parts: the engine's own speed, and time-stretching after it
 * (docs/contract/decisions.md 4). The product of the two is the speed.
 */
import type { TimedWord, TtsCapabilities } from '../contracts/ports/speech/tts.js';

export interface SpeechPace {
  /** Speed requested from the engine. */
  readonly own: number;
  /** Factor by which its audio is sped up afterwards. */
  readonly stretch: number;
}

/** Lets the engine do as much as possible, which sounds better. */
export function paceOf({ speed, speedRange }: TtsCapabilities, wanted: number): SpeechPace {
  const { min, max } = speed ? (speedRange ?? { min: wanted, max: wanted }) : { min: 1, max: 1 };
  const own = Math.min(max, Math.max(min, wanted));
  return { own, stretch: wanted / own };
}

/** The word's times once its audio has been stretched. */
export const stretchedWord = ({ text, start, end }: TimedWord, { stretch }: SpeechPace): TimedWord => ({
  text,
  start: start / stretch,
  end: end / stretch,
});
