/**
 * What an agent's machine remembers beside its states: numbers, words and settings only. All that decides which events
 * count is a state.
 */
import type { Cause } from './events.js';
import type { AgentSettings } from './settings.js';
import { detected, type EndOfTurn } from './turns/detectors.js';
import { completenessOf, delaysOf, type TurnCompleteness } from './turns/endpointing.js';
import { INTERRUPTION, interrupts, overlapOf, type Verdict, verdictOf } from './turns/interruption.js';
import { type Pace, USUAL_PACE } from './turns/pace.js';
import { finalText, guessedText, isOverlap, joined, stableText, type Stretches } from './turns/stretches.js';

export interface Context {
  readonly settings: AgentSettings;
  /** The number of the last job. */
  readonly job: number;
  /** Why the last job lives: the cause of its reply; undefined for a fixed sentence. */
  readonly cause: Cause | undefined;
  /**
   * Whether this job speaks. No state: it changes no answer of the machine, and only goes into the next effect, as an
   * excuse is made in the way in which its answer would have been.
   */
  readonly aloud: boolean;
  /** The number of the user's last stretch of voice. */
  readonly span: number;
  readonly stretches: Stretches;
  /** The message of the turn that may still be taken up again; empty where there is none. */
  readonly said: string;
  /** Whether words are shown that are no message yet. */
  readonly shown: boolean;
  /** That the turn was over at the last silence, by its sound; undefined where that is not known. */
  readonly probability: number | undefined;
  /** When the user fell silent, and how this user pauses. */
  readonly silentAt: number | undefined;
  readonly pace: Pace;
  /** Whether the turn had a pause. */
  readonly paused: boolean;
  /** The agent hears itself: a sound says nothing about the user. */
  readonly echoes: boolean;
  /** Times in a row that the agent has broken the silence. */
  readonly reengaged: number;
}

export const contextOf = (settings: AgentSettings): Context => ({
  ...{ settings, job: 0, cause: undefined, aloud: true, span: 0, stretches: [], said: '' },
  ...{ shown: false, probability: undefined, silentAt: undefined, pace: USUAL_PACE, paused: false },
  ...{ reengaged: 0, echoes: false },
});

/** The user's words that are no message yet. */
export const newWords = ({ stretches }: Context): string => finalText(stretches);

export const hasWords = (context: Context): boolean => newWords(context) !== '';

/** All words of the turn. */
export const turnText = (context: Context): string => joined([context.said, newWords(context)]);

/** What the words so far do to an agent that speaks; `finished`: the user has stopped, and all are known. */
export function verdictOn({ settings, stretches }: Context, finished: boolean): Verdict | undefined {
  const text = finished ? finalText(stretches) : guessedText(stretches);
  if (settings.interruptible) return verdictOf(text, settings.sensitivity, finished);
  if (!finished) return undefined;
  const overlap = overlapOf(text);
  return overlap === 'speech' || overlap === 'command' ? 'later' : 'ignore';
}

/** Whether words that will not change interrupt the agent, though the user may say more. */
export const interruptsForSure = ({ settings, stretches }: Context): boolean =>
  settings.interruptible && interrupts(stableText(stretches), settings.sensitivity);

/** Whether the user's voice alone holds the agent. */
export const holds = ({ settings, echoes }: Context): boolean =>
  settings.interruptible && !echoes && INTERRUPTION[settings.sensitivity].holds;

/**
 * Whether they were agreement while the agent spoke. It may have finished meanwhile, as transcripts take their time: what
 * was said over it is no turn for that.
 */
export const isAgreement = (context: Context): boolean =>
  hasWords(context) && isOverlap(context.stretches) && verdictOn(context, true) === 'ignore';

/** Whether the agent finishes what it says before it answers them. */
export const isAnsweredLater = (context: Context): boolean =>
  hasWords(context) && !isAgreement(context) && verdictOn(context, true) !== 'interrupt';

/**
 * Whether they are part of the turn that an agent is about to answer, of which nothing has been heard yet: any word is,
 * in the end; until then what could still be a word of agreement, or misheard, is waited for.
 */
export function belongToTurn(context: Context, finished: boolean): boolean {
  if (finished) return hasWords(context) && !isAgreement(context);
  if (!context.aloud || context.cause !== 'turn') return false;
  const overlap = overlapOf(guessedText(context.stretches), false);
  return overlap === 'speech' || overlap === 'command';
}

/** Whether the words so far may be the whole turn. */
export const isDraftable = (context: Context): boolean =>
  context.settings.drafts &&
  hasWords(context) &&
  !isAgreement(context) &&
  turnCompleteness(context) !== 'unfinished';

export const turnCompleteness = ({ settings, stretches, probability }: Context): TurnCompleteness =>
  detected(settings.detector, completenessOf(finalText(stretches), settings.language), probability);

export const delayFor = ({ settings, pace }: Context, turn: TurnCompleteness): number =>
  delaysOf(settings.eagerness, pace)[turn];

export function endOfTurn(context: Context): EndOfTurn {
  const { settings, probability } = context;
  const completeness = turnCompleteness(context);
  const delayMs = delayFor(context, completeness);
  if (settings.detector === 'tables' || probability === undefined)
    return { detector: 'tables', completeness, delayMs };
  return { detector: settings.detector, probability, completeness, delayMs };
}
