/**
 * Who says that the user's turn is over, when its words are known: the tables of words and pauses (endpointing.ts), a
 * model that listens to how the last words sounded, or both. Each makes one of the four kinds of turns of the words and
 * of the model's probability, and so picks one of the four delays: `eagerness` and the user's pauses bound it in any case.
 */
import type { Detector } from '../../../contracts/ports/turns.js';
import type { TurnCompleteness } from './endpointing.js';

/** Whether the user sounded as if all was said. */
type Sound = 'over' | 'unsure' | 'goesOn';

/** The model's probability of a turn that is over, from which on it is sure, and up to which it is sure of the contrary. */
export const SURE = { over: 0.8, goesOn: 0.2 } as const;

type BySound = Readonly<Record<Sound, Readonly<Record<TurnCompleteness, TurnCompleteness>>>>;

const alone = (turn: TurnCompleteness) => ({ complete: turn, likely: turn, open: turn, unfinished: turn });

const BY_SOUND: Readonly<Record<Exclude<Detector, 'tables'>, BySound>> = {
  audio: { over: alone('complete'), unsure: alone('open'), goesOn: alone('unfinished') },
  both: {
    /** Words that want another are waited for, however they sounded. */
    over: { ...alone('complete'), unfinished: 'unfinished' },
    unsure: { complete: 'complete', likely: 'likely', open: 'open', unfinished: 'unfinished' },
    goesOn: { ...alone('unfinished'), complete: 'open' },
  },
};

function soundOf(probability: number): Sound {
  if (probability >= SURE.over) return 'over';
  return probability <= SURE.goesOn ? 'goesOn' : 'unsure';
}

/** What the detector takes a turn for whose words look like that. Without a probability the words alone decide. */
export function detected(
  detector: Detector,
  words: TurnCompleteness,
  probability: number | undefined,
): TurnCompleteness {
  if (detector === 'tables' || probability === undefined) return words;
  return BY_SOUND[detector][soundOf(probability)][words];
}

/** Why a turn was taken to be over when it was. */
export interface EndOfTurn {
  /** Which detector has decided: `tables` too where the model's answer did not come in time. */
  readonly detector: Detector;
  /** What the model said, where it did: 0 the user goes on, 1 the turn is over. */
  readonly probability?: number;
  readonly completeness: TurnCompleteness;
  /** Silence that was wanted behind the last words, in ms, without the 250 that voice activity takes to notice it. */
  readonly delayMs: number;
}
