/**
 * One conversation between a user and an agent (docs/contract/platform.md 6.7, docs/contract/decisions.md "Platform", decisions 11 and 13).
 * The host beside it performs the effects: it transcribes, thinks, speaks, keeps the record. Bytes and words of
 * the reply never come by here; the user's words do, because turns are decided by them.
 *
 * Invariants:
 * - at most one job (a reply or a fixed sentence) lives; what a job says after it was cancelled changes nothing;
 * - each job ends by exactly one of `ended`, `failed` or our `cancel`;
 * - each turn of the user is closed exactly once, and becomes at most one `message`;
 * - whatever pauses the playout lets it go on: when its turn closes, when its job is over, or after a false interruption;
 * - `end` is the last effect, and happens once.
 */
import { and, assign, emit, enqueueActions, not, raise, setup, stateIn } from 'xstate';
import { CALL_TIMES } from '../../contracts/call-times.js';
import type { AgentEffect, AgentEvent, EndReason } from './events.js';
import type { AgentSettings } from './settings.js';
import { completenessOf, ENDPOINTING_MS, type TurnCompleteness } from './turns/endpointing.js';
import { INTERRUPTION, overlapOf, type Verdict, verdictOf } from './turns/interruption.js';

/** Numbers, words and settings only: all that decides which events count is a state. */
interface Context {
  readonly settings: AgentSettings;
  /** The number of the last job. */
  readonly job: number;
  /**
   * Whether this job speaks. No state: it changes no answer of the machine, and only goes into the next effect, as an
   * excuse is made in the way in which its answer would have been.
   */
  readonly aloud: boolean;
  /** The number of the user's last stretch of voice. */
  readonly span: number;
  /** The turn's transcript so far, and whether it is whole. */
  readonly text: string;
  readonly final: boolean;
  /** Times in a row that the agent has broken the silence. */
  readonly reengaged: number;
}

export const TIMES = {
  /** A sound that has brought no words by then was a false interruption: music goes on for longer. */
  falseInterruptionMs: 2000,
  /** How long a turn waits for its last words when all silence has passed. */
  wordsMs: 5000,
  /** Silence on both sides before the agent speaks up, and how often in a row it does. */
  reengageMs: 10_000,
  reengageAtMost: 2,
  /** docs/contract/decisions.md 13. */
  goneMs: CALL_TIMES.goneMs,
} as const;

const hasWords = ({ text }: Context): boolean => overlapOf(text) !== 'noise';

/** The verdict while the agent has not been heard yet: any speech of the user interrupts, since nothing is lost. */
function beforeSpeech({ text }: Context, finished: boolean): Verdict | undefined {
  if (overlapOf(text, finished) === 'speech') return 'interrupt';
  return finished ? 'ignore' : undefined;
}

function duringSpeech({ settings, text }: Context, finished: boolean): Verdict | undefined {
  if (settings.interruptible) return verdictOf(text, settings.sensitivity, finished);
  if (!finished) return undefined;
  return overlapOf(text) === 'speech' ? 'later' : 'ignore';
}

const VERDICTS = { thinking: beforeSpeech, speaking: duringSpeech } as const;
type Busy = keyof typeof VERDICTS;

const endpointing = ({ settings }: Context, turn: TurnCompleteness): number =>
  ENDPOINTING_MS[settings.eagerness][turn];

const parts = setup({
  types: {} as { context: Context; input: AgentSettings; events: AgentEvent; emitted: AgentEffect },
  delays: {
    maxDuration: ({ context }) => context.settings.maxDurationMs,
    bargeIn: ({ context }) => INTERRUPTION[context.settings.sensitivity].pauseAfterMs ?? 0,
    complete: ({ context }) => endpointing(context, 'complete'),
    open: ({ context }) => endpointing(context, 'open') - endpointing(context, 'complete'),
    unfinished: ({ context }) => endpointing(context, 'unfinished') - endpointing(context, 'open'),
    words: TIMES.wordsMs,
    falseInterruption: TIMES.falseInterruptionMs,
    reengage: TIMES.reengageMs,
    gone: TIMES.goneMs,
  },
  guards: {
    isCurrent: ({ context, event }) => 'job' in event && event.job === context.job,
    isOfThisSpan: ({ context, event }) => event.type === 'transcript' && event.span === context.span,
    isFinal: ({ event }) => event.type === 'transcript' && event.final,
    isActive: ({ event }) => event.type === 'voice' && event.active,
    opens: ({ context }, mode: AgentSettings['opening']['mode']) => context.settings.opening.mode === mode,
    /** The transcript is whole and is one of these. */
    isTurn: ({ context }, turns: readonly TurnCompleteness[]) =>
      context.final && turns.includes(completenessOf(context.text, context.settings.language)),
    isWhole: ({ context }) => context.final,
    hasWords: ({ context }) => hasWords(context),
    pauses: ({ context }) =>
      context.settings.interruptible && INTERRUPTION[context.settings.sensitivity].pauseAfterMs !== null,
    /** Whether the user's words have that verdict on an agent that is busy in this way. */
    says: ({ context, event }, { verdict, agent }: { readonly verdict: Verdict; readonly agent: Busy }) => {
      const finished = event.type === 'turnOver' || (event.type === 'overlap' && event.finished);
      return VERDICTS[agent](context, finished) === verdict;
    },
    isSpeaking: stateIn('#speaking'),
    isHangingUp: stateIn('#hangingUp'),
    isExcusing: stateIn('#excusing'),
    isAsked: stateIn('#asked'),
    reengages: ({ context }) => context.settings.reengage && context.reengaged < TIMES.reengageAtMost,
    isTalkedOver: and(['pauses', stateIn({ talking: { user: 'speaking' } })]),
    userIsQuiet: stateIn({ talking: { user: 'quiet', link: 'up' } }),
  },
  actions: {
    beginSpan: enqueueActions(({ context, enqueue }) => {
      const span = context.span + 1;
      enqueue.assign({ span, final: false });
      enqueue.emit({ type: 'beginSpan', span });
    }),
    noteWords: assign(({ event }) =>
      event.type === 'transcript' ? { text: event.text, final: event.final } : {},
    ),
    giveUpOnWords: assign({ final: true }),
    transcribe: emit(({ context }) => ({ type: 'transcribe' as const, span: context.span })),
    weigh: raise({ type: 'overlap', finished: false }),
    weighAll: raise({ type: 'overlap', finished: true }),
    endTurn: raise({ type: 'turnOver' }),
    closeTurn: emit({ type: 'closeTurn' }),
    forgetWords: assign({ text: '', final: false }),
    message: emit(({ context }) => ({ type: 'message' as const, text: context.text })),
    messageForLater: emit(({ context }) => ({
      type: 'message' as const,
      text: context.text,
      later: true as const,
    })),
    /** An excuse is made as its answer would have been. */
    count: assign(({ context, event }) => ({
      job: context.job + 1,
      aloud: event.type === 'failed' ? context.aloud : event.type !== 'typed' || event.aloud,
    })),
    answer: emit(({ context: { job, aloud } }) => ({
      type: 'reply' as const,
      job,
      cause: 'turn' as const,
      aloud,
    })),
    read: emit(({ event }) => ({
      type: 'message' as const,
      text: event.type === 'typed' ? event.text : '',
      typed: true as const,
    })),
    greet: emit(({ context: { job, settings } }) => ({
      type: 'say' as const,
      job,
      text: settings.opening.mode === 'fixed' ? settings.opening.text : '',
    })),
    open: emit(({ context }) => ({
      type: 'reply' as const,
      job: context.job,
      cause: 'opener' as const,
      aloud: true,
    })),
    reengage: enqueueActions(({ context, enqueue }) => {
      enqueue.assign({ reengaged: context.reengaged + 1 });
      enqueue.emit({ type: 'reply', job: context.job, cause: 'reengage', aloud: true });
    }),
    excuse: emit(({ context: { job, aloud } }) => ({ type: 'excuse' as const, job, aloud })),
    bargeIn: raise({ type: 'bargeIn' }),
    goOn: raise({ type: 'goOn' }),
    cancel: emit(({ context }) => ({ type: 'cancel' as const, job: context.job })),
    pause: emit({ type: 'pause' }),
    resume: emit({ type: 'resume' }),
    show: emit((_, state: 'listening' | 'thinking' | 'speaking') => ({ type: 'state' as const, state })),
    end: emit((_, reason: EndReason) => ({ type: 'end' as const, reason })),
    noteUser: assign({ reengaged: 0 }),
  },
});

/** The user's words become a message and get their answer. */
const ANSWER = ['noteUser', 'message', 'count', 'answer'] as const;
const ANSWER_TYPED = ['noteUser', 'read', 'count', 'answer'] as const;

const ends = (reason: EndReason) => ({ target: '#over', actions: { type: 'end', params: reason } }) as const;

const says = (verdict: Verdict, agent: Busy) => ({ type: 'says', params: { verdict, agent } }) as const;

/** Another job takes the place of this one. */
const NEXT = { target: '#working', reenter: true } as const;

/** Transitions for the user's words while a job lives. */
const weighed = (agent: Busy) =>
  ({
    overlap: [
      { guard: says('interrupt', agent), target: '#idle', actions: 'cancel' },
      { guard: says('ignore', agent), actions: 'goOn' },
    ],
    turnOver: [
      { guard: says('interrupt', agent), ...NEXT, actions: ['cancel', ...ANSWER] },
      { actions: 'goOn' },
    ],
  }) as const;

/** How a job ends. */
const ENDINGS = {
  typed: { ...NEXT, actions: ['cancel', ...ANSWER_TYPED] },
  interrupt: [
    { guard: 'isAsked', ...NEXT, actions: ['cancel', 'count', 'answer'] },
    { target: '#idle', actions: 'cancel' },
  ],
  ended: [
    { guard: and(['isCurrent', 'isHangingUp']), ...ends('agent_hangup') },
    { guard: and(['isCurrent', 'isAsked']), ...NEXT, actions: ['count', 'answer'] },
    { guard: 'isCurrent', target: '#idle' },
  ],
  failed: [
    { guard: and(['isCurrent', 'isExcusing', 'isAsked']), ...NEXT, actions: ['count', 'answer'] },
    { guard: and(['isCurrent', 'isExcusing']), target: '#idle' },
    {
      guard: and(['isCurrent', 'isAsked']),
      target: ['#excusing', '#asked'],
      reenter: true,
      actions: ['count', 'excuse'],
    },
    { guard: 'isCurrent', target: '#excusing', reenter: true, actions: ['count', 'excuse'] },
  ],
} as const;

export const agentMachine = parts.createMachine({
  id: 'agent',
  context: ({ input }) => ({
    settings: input,
    job: 0,
    aloud: true,
    span: 0,
    text: '',
    final: false,
    reengaged: 0,
  }),
  initial: 'waiting',
  on: {
    left: ends('user_hangup'),
    end: {
      target: '#over',
      actions: { type: 'end', params: ({ event }) => event.reason },
    },
  },
  states: {
    /** Nobody has joined yet. */
    waiting: { on: { connected: 'talking' } },
    talking: {
      type: 'parallel',
      after: { maxDuration: ends('conversation_timeout') },
      states: {
        link: {
          initial: 'up',
          states: {
            up: { on: { disconnected: 'down' } },
            down: { on: { connected: 'up' }, after: { gone: ends('gone') } },
          },
        },
        agent: {
          initial: 'opening',
          states: {
            opening: {
              always: [
                { guard: { type: 'opens', params: 'fixed' }, target: 'working', actions: ['count', 'greet'] },
                { guard: { type: 'opens', params: 'prompt' }, target: 'working', actions: ['count', 'open'] },
                { target: 'idle' },
              ],
            },
            idle: {
              id: 'idle',
              entry: { type: 'show', params: 'listening' },
              on: {
                turnOver: { guard: 'hasWords', target: 'working', actions: ANSWER },
                typed: { target: 'working', actions: ANSWER_TYPED },
                activity: { target: 'idle', reenter: true },
                voice: { target: 'idle', reenter: true },
              },
              after: {
                reengage: [
                  {
                    guard: and(['reengages', 'userIsQuiet']),
                    target: 'working',
                    actions: ['count', 'reengage'],
                  },
                  { target: 'idle', reenter: true },
                ],
              },
            },
            /** A job lives. */
            working: {
              id: 'working',
              type: 'parallel',
              on: ENDINGS,
              states: {
                voice: {
                  initial: 'thinking',
                  states: {
                    /** Nothing of the job has been heard yet. */
                    thinking: {
                      entry: { type: 'show', params: 'thinking' },
                      on: { ...weighed('thinking'), audible: { guard: 'isCurrent', target: 'speaking' } },
                    },
                    speaking: {
                      id: 'speaking',
                      entry: { type: 'show', params: 'speaking' },
                      initial: 'beginning',
                      on: weighed('speaking'),
                      states: {
                        beginning: {
                          always: [{ guard: 'isTalkedOver', target: 'paused' }, { target: 'flowing' }],
                        },
                        flowing: { on: { bargeIn: 'paused' } },
                        /** The user makes a sound: one that turns out to mean nothing lets the agent go on. */
                        paused: {
                          entry: 'pause',
                          exit: 'resume',
                          on: { goOn: 'flowing' },
                          after: { falseInterruption: 'flowing' },
                        },
                      },
                    },
                  },
                },
                /** The purpose of the job. */
                task: {
                  initial: 'answering',
                  states: {
                    answering: { on: { hangUp: { guard: 'isCurrent', target: 'hangingUp' } } },
                    /** The call ends with this job. */
                    hangingUp: { id: 'hangingUp' },
                    /** The job says that the one before it has failed. It asks no model, so nothing hangs up. */
                    excusing: { id: 'excusing' },
                  },
                },
                /** Whether the user has asked something that is answered when the job has ended. */
                question: {
                  initial: 'none',
                  on: {
                    turnOver: {
                      guard: and(['isSpeaking', says('later', 'speaking')]),
                      target: '.asked',
                      actions: ['noteUser', 'messageForLater'],
                    },
                  },
                  states: { none: {}, asked: { id: 'asked' } },
                },
              },
            },
          },
        },
        user: {
          initial: 'quiet',
          states: {
            quiet: {
              entry: 'forgetWords',
              on: { voice: { guard: 'isActive', target: 'speaking', actions: 'beginSpan' } },
            },
            speaking: {
              after: { bargeIn: { guard: 'pauses', actions: 'bargeIn' } },
              on: {
                voice: { guard: not('isActive'), target: 'endpointing' },
                transcript: { guard: 'isOfThisSpan', actions: ['noteWords', 'weigh'] },
              },
            },
            /** Silence: a pause, or the end of the turn. A state is named after the turn for which it is long enough. */
            endpointing: {
              entry: 'transcribe',
              initial: 'brief',
              on: {
                voice: { guard: 'isActive', target: 'speaking', actions: 'beginSpan' },
                transcript: { guard: and(['isOfThisSpan', 'isFinal']), actions: ['noteWords', 'weighAll'] },
              },
              states: {
                brief: { after: { complete: 'complete' } },
                complete: {
                  always: { guard: { type: 'isTurn', params: ['complete'] }, target: '#closing' },
                  after: { open: 'open' },
                },
                open: {
                  always: { guard: { type: 'isTurn', params: ['complete', 'open'] }, target: '#closing' },
                  after: { unfinished: 'unfinished' },
                },
                /** All silence has passed; the last words may not be known yet. */
                unfinished: {
                  always: { guard: 'isWhole', target: '#closing' },
                  after: { words: { target: '#closing', actions: 'giveUpOnWords' } },
                },
              },
            },
            /** The agent's side decides what becomes of the words before they are forgotten. */
            closing: {
              id: 'closing',
              entry: 'endTurn',
              on: { turnOver: { target: 'quiet', actions: 'closeTurn' } },
            },
          },
        },
      },
    },
    over: { id: 'over', type: 'final' },
  },
});
