/**
 * Detectors that the user's turn has ended, once its words are known: the tables of words and pauses (endpointing.ts), a
 * model that listens to the sound of the last words, or both. Each maps the words and the model's probability to one of
 * the four kinds of turn completeness, and so to one of the four delays, which `eagerness` and the user's pauses bound.
 */
import type { Detector } from '../../../contracts/ports/speech/turns.js';
import type { TurnCompleteness } from './endpointing.js';

/** Whether the user sounded finished. */
type Sound = 'over' | 'unsure' | 'goesOn';

/** Thresholds of the model's probability: from `over` up the turn has surely ended, from `goesOn` down it surely continues. */
export const SURE = { over: 0.8, goesOn: 0.2 } as const;

type BySound = Readonly<Record<Sound, Readonly<Record<TurnCompleteness, TurnCompleteness>>>>;

const alone = (turn: TurnCompleteness) => ({ complete: turn, likely: turn, open: turn, unfinished: turn });

const BY_SOUND: Readonly<Record<Exclude<Detector, 'tables'>, BySound>> = {
  audio: { over: alone('complete'), unsure: alone('open'), goesOn: alone('unfinished') },
  both: {
    /** Words that need another after them keep the turn open, however they sounded. */
    over: { ...alone('complete'), unfinished: 'unfinished' },
    unsure: { complete: 'complete', likely: 'likely', open: 'open', unfinished: 'unfinished' },
    goesOn: { ...alone('unfinished'), complete: 'open' },
  },
};

function soundOf(probability: number): Sound {
  if (probability >= SURE.over) return 'over';
  return probability <= SURE.goesOn ? 'goesOn' : 'unsure';
}

/** Turn completeness by the detector. Without a probability the words alone decide. */
export function detected(
  detector: Detector,
  words: TurnCompleteness,
  probability: number | undefined,
): TurnCompleteness {
  if (detector === 'tables' || probability === undefined) return words;
  return BY_SOUND[detector][soundOf(probability)][words];
}

/** Why and when a turn was taken to have ended. */
export interface EndOfTurn {
  /** The detector that decided; also `tables` if the model did not answer in time. */
  readonly detector: Detector;
  /** The model's answer, if any: 0 the user continues, 1 the turn has ended. */
  readonly probability?: number;
  readonly completeness: TurnCompleteness;
  /** Silence required after the last words, in ms, without the 250 that VAD takes to notice it. */
  readonly delayMs: number;
}
