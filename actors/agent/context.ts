/**
 * Context of an agent's machine: numbers, words and settings only. Anything that decides which events count is a
 * state instead.
 */
import type { Act } from './effects.js';
import type { AgentEvent, Cause, Excuse, FailedPart, Sentence } from './events.js';
import type { AgentSettings } from './settings.js';
import { ONLINE_TIMES } from '../../contracts/limits/online-times.js';
import { MOST_UNCLEAR_TURNS } from './times.js';
import { detected, type EndOfTurn } from './turns/detectors.js';
import { completenessOf, delaysOf, MOST_ANSWER_WORDS, type TurnCompleteness } from './turns/endpointing.js';
import {
  type AnswerPart,
  answerPart,
  AS_TURN,
  NO_QUESTION,
  type Question,
} from './turns/expected-answers.js';
import {
  INTERRUPTION,
  interrupts,
  overlapOf,
  type OverlapVerdict,
  verdictOf,
  wordsOf,
} from './turns/interruption.js';
import { type Pace, USUAL_PACE } from './turns/pace.js';
import {
  finalText,
  hasUnclear,
  heard,
  interruptsAgent,
  isOverlap,
  isWhole,
  joined,
  markedText,
  partialText,
  stableText,
  type Stretches,
} from './turns/stretches.js';

export interface Context {
  readonly settings: AgentSettings;
  /** The number of the last job. */
  readonly job: number;
  /** The cause of the last job's reply, or the fixed sentence that it is. */
  readonly cause: Cause | Sentence;
  /**
   * Whether this job speaks. Not a state, as it only goes into effects: an excuse is spoken if its answer would have
   * been.
   */
  readonly aloud: boolean;
  /** What the tools do that wait until they may begin. */
  readonly wanted: readonly Act[];
  /** The number of the user's last stretch of voice. */
  readonly span: number;
  readonly stretches: Stretches;
  /** The message of the turn that the user may still continue; empty if there is none. */
  readonly said: string;
  /** The words that the last draft answers. */
  readonly drafted: string;
  /** Whether the user is shown words that are not yet a message. */
  readonly shown: boolean;
  /** Probability, by its sound, that the turn had ended at the last silence; undefined if unknown. */
  readonly probability: number | undefined;
  /** How long the last voice had faded when its end was noticed, in ms (turns/endpointing.ts). */
  readonly fadedMs: number;
  /** When the user had been silent for NOTICED_MS, and how this user pauses. */
  readonly silentAt: number | undefined;
  readonly pace: Pace;
  /** Whether a turn was long enough to show that. */
  readonly paceKnown: boolean;
  /** What the agent's last words asked for. */
  readonly asked: Question;
  /** Whether the turn had a pause. */
  readonly paused: boolean;
  /** Whether the client has said that the turn is over with the user's last voice. */
  readonly released: boolean;
  /** The agent hears its own echo, so a sound alone does not prove that the user speaks. */
  readonly echoes: boolean;
  /** Failed answers in a row, and the part of the gateway that failed last. */
  readonly failures: number;
  readonly failedPart: FailedPart;
  /** Times in a row that the agent was asked for an answer to a voice without words. */
  readonly unclearTurns: number;
  /** How long both sides have been silent, in all, since anybody said something that the other did not have to answer. */
  readonly silenceMs: number;
  /** Tools run beside the conversation whose results the agent has yet to tell. */
  readonly owesResults: boolean;
  /** Times in a row that the agent has broken the silence. */
  readonly reengaged: number;
}

export const contextOf = (settings: AgentSettings): Context => ({
  settings,
  job: 0,
  cause: 'greeting',
  aloud: true,
  wanted: [],
  span: 0,
  stretches: [],
  said: '',
  drafted: '',
  shown: false,
  probability: undefined,
  fadedMs: 0,
  silentAt: undefined,
  pace: USUAL_PACE,
  paceKnown: false,
  asked: NO_QUESTION,
  paused: false,
  silenceMs: 0,
  owesResults: false,
  released: false,
  reengaged: 0,
  echoes: false,
  failures: 0,
  failedPart: 'model',
  unclearTurns: 0,
});

interface Purpose {
  /** What is said in its place if it fails; undefined if nobody asked for it. */
  readonly excuse?: Exclude<Excuse, 'apology'>;
  /** Somebody waits for the answer: silence before it is filled, and earlier failures are forgiven once it was given. */
  readonly isAwaited: boolean;
  /** It is said into a silence, which goes on after it. */
  readonly isAside?: true;
}

/** What jobs are to whoever hears them. */
const PURPOSES: Readonly<Record<Cause | Sentence, Purpose>> = {
  turn: { excuse: 'answer', isAwaited: true },
  continue: { excuse: 'answer', isAwaited: true },
  opener: { excuse: 'opener', isAwaited: true },
  handover: { excuse: 'opener', isAwaited: true },
  news: { excuse: 'answer', isAwaited: false },
  greeting: { excuse: 'opener', isAwaited: false },
  reengage: { isAwaited: false, isAside: true },
  farewell: { isAwaited: false, isAside: true },
  warning: { isAwaited: false, isAside: true },
  goodbye: { isAwaited: false, isAside: true },
  excuse: { isAwaited: false },
};

/** What the excuse for a failed job says; undefined if nobody waits for it. */
export const excuseFor = ({ cause }: Context): Purpose['excuse'] => PURPOSES[cause].excuse;

/** How long both sides have been silent once a job of that cause begins: what is said into the silence does not end it. */
export const silenceBefore = ({ silenceMs }: Context, cause: Cause | Sentence): number =>
  PURPOSES[cause].isAside ? silenceMs : 0;

/** Whether a silence can end the call, and has not yet; the user may wait for results. */
export const isSilenceCounted = (context: Context): boolean =>
  context.settings.hangUpAfterMs !== undefined && !context.owesResults && !isSilenceOver(context);

/** Whether the silence ends the call in no more than `ms`. */
export const isSilenceOver = ({ settings, silenceMs }: Context, ms = 0): boolean =>
  settings.hangUpAfterMs !== undefined && silenceMs + ms >= settings.hangUpAfterMs;

/** Whether one more failed answer ends the call. */
export const isLastFailure = ({ failures }: Context): boolean => failures + 1 >= ONLINE_TIMES.failures;

/** Whether somebody waits for what the job says. */
export const isAwaited = ({ cause }: Context): boolean => PURPOSES[cause].isAwaited;

/** Whether a silence before the job's first word may be filled. */
export const mayFill = ({ settings, aloud }: Context): boolean => settings.fills && aloud;

/** What the user said that is not yet a message, with marks in place of unclear words. */
export const newText = ({ stretches }: Context): string => markedText(stretches);

export const hasWords = ({ stretches }: Context): boolean => finalText(stretches) !== '';

/** All that was said in the turn. */
export const turnText = (context: Context): string => joined([context.said, newText(context)]);

/** Whether a voice without words is unclear speech: not for ever, as a noisy room is never understood. */
export const marksUnclear = ({ unclearTurns }: Context): boolean => unclearTurns < MOST_UNCLEAR_TURNS;

/** Whether the agent asks what was said in a voice without words. */
export const asksAgain = (context: Context): boolean =>
  !hasWords(context) && hasUnclear(context.stretches) && marksUnclear(context);

/** The same, of a voice that continues the turn whose answer is not audible yet. */
const asksAgainInTurn = (context: Context): boolean =>
  context.aloud && context.cause === 'turn' && context.said !== '' && asksAgain(context);

/** Whether the words so far, if any, are none, and every stretch of voice but the present one is transcribed. */
export const isWordlessSoFar = ({ stretches, span }: Context): boolean =>
  overlapOf(partialText(stretches)) === 'noise' &&
  stretches.every((each) => each.final || each.span === span);

/** Effect of the words so far on an agent that speaks; `finished`: the user has stopped, and all words are known. */
export function verdictOn({ settings, stretches }: Context, finished: boolean): OverlapVerdict | undefined {
  const text = finished ? finalText(stretches) : partialText(stretches);
  if (settings.interruptible) return verdictOf(text, settings.sensitivity, finished);
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
 * Whether the new words were agreement while the agent spoke. Transcripts are late, so the agent may have finished by
 * now; that does not make them a turn.
 */
export const isAgreement = (context: Context): boolean =>
  hasWords(context) && isOverlap(context.stretches) && verdictOn(context, true) === 'ignore';

/** Whether the agent finishes what it says before it answers the new words. */
export const isAnsweredLater = (context: Context): boolean =>
  hasWords(context) && !isAgreement(context) && verdictOn(context, true) !== 'interrupt';

/**
 * Whether the new words belong to the turn whose answer is not audible yet. Once `finished`, any words but agreement do, and
 * unclear ones; until then only those that cannot turn out to be agreement or misheard.
 */
export function belongToTurn(context: Context, finished: boolean): boolean {
  if (finished) return (hasWords(context) && !isAgreement(context)) || asksAgainInTurn(context);
  if (!context.aloud || context.cause !== 'turn') return false;
  const overlap = overlapOf(partialText(context.stretches), false);
  return overlap === 'speech' || overlap === 'command';
}

const isAnswerable = (context: Context): boolean =>
  context.settings.drafts && hasWords(context) && !isAgreement(context);

/** Whether the words so far look like the whole turn. */
export const isDraftable = (context: Context): boolean =>
  isAnswerable(context) && ['complete', 'likely'].includes(turnCompleteness(context));

/** Whether they may be, which the next moments of silence tell: a number in groups would ask for a draft at each group. */
export const isDraftableLate = (context: Context): boolean =>
  isAnswerable(context) && turnCompleteness(context) === 'open';

/** The context if the present voice ends now, with those words. */
export const foreseen = (
  context: Context,
  { span, text }: Pick<Extract<AgentEvent, { readonly type: 'foreseen' }>, 'span' | 'text'>,
): Context => ({ ...context, stretches: heard(context.stretches, { span, text, final: true }) });

/** Whether an answer may be drafted before the voice has surely ended: only to words that nothing need follow. */
export function isForeseen(
  context: Context,
  event: Extract<AgentEvent, { readonly type: 'foreseen' }>,
): boolean {
  if (event.text === '' || event.span !== context.span) return false;
  const then = foreseen(context, event);
  return isWhole(then.stretches) && isAnswerable(then) && turnCompleteness(then) === 'complete';
}

/** How much the turn so far is of what the agent has asked for; undefined if it cannot tell. */
function answered({ asked, said, settings, stretches }: Context): AnswerPart | undefined {
  return answerPart(joined([said, finalText(stretches)]), settings.language, asked);
}

/** Whether the turn so far is a word or two that answer the agent's question. */
function isShortAnswer(context: Context): boolean {
  const { asked, said, stretches } = context;
  if (!asked.isQuestion || said !== '') return false;
  const { length } = wordsOf(finalText(stretches));
  return (length > 0 && length <= MOST_ANSWER_WORDS) || answered(context) === 'short';
}

export function turnCompleteness(context: Context): TurnCompleteness {
  const { settings, stretches, probability } = context;
  const part = answered(context);
  const words = part
    ? AS_TURN[part]
    : completenessOf(finalText(stretches), settings.language, isShortAnswer(context));
  return detected(settings.detector, words, probability);
}

/** The silence that ends such a turn from when its end was noticed, in ms. */
export function delayFor(context: Context, turn: TurnCompleteness): number {
  const { settings, pace, paceKnown, said, stretches, released, fadedMs } = context;
  if (released) return 0;
  const facts = {
    unknownPace: !paceKnown,
    interrupts: said === '' && interruptsAgent(stretches),
    answers: isShortAnswer(context),
    fulfils: answered(context) === 'whole',
  };
  return Math.max(0, delaysOf(settings.eagerness, pace, facts)[turn] - fadedMs);
}

export function endOfTurn(context: Context): EndOfTurn {
  const { settings, probability } = context;
  const completeness = turnCompleteness(context);
  const delayMs = delayFor(context, completeness);
  if (settings.detector === 'tables' || probability === undefined)
    return { detector: 'tables', completeness, delayMs };
  return { detector: settings.detector, probability, completeness, delayMs };
}
