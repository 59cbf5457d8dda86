/**
 * A wanted speed, in two parts: what the engine does by itself, and what time-stretching does behind it
 * (docs/contract/decisions.md 4). The product of the two is the speed.
 */
import type { TimedWord, TtsCapabilities } from '../contracts/ports/tts.js';

export interface Pace {
  /** The speed that the engine is asked for. */
  readonly own: number;
  /** Factor by which its audio is stretched afterwards. */
  readonly stretch: number;
}

/** As much as possible is left to the engine, which sounds better. */
export function paceOf({ speed, speedRange }: TtsCapabilities, wanted: number): Pace {
  const { min, max } = speed ? (speedRange ?? { min: wanted, max: wanted }) : { min: 1, max: 1 };
  const own = Math.min(max, Math.max(min, wanted));
  return { own, stretch: wanted / own };
}

/** When the word is heard once its audio has been stretched. */
export const stretchedWord = ({ text, start, end }: TimedWord, { stretch }: Pace): TimedWord => ({
  text,
  start: start / stretch,
  end: end / stretch,
});
