/**
 * One conversation between a user and an agent (spec "Sessions", decisions.md "Platform", fine points 11 and 13).
 * The host beside it performs the effects: it transcribes, thinks, speaks, keeps the record. Bytes and words of
 * the reply never come by here; the user's words do, because turns are decided by them.
 *
 * Invariants:
 * - at most one job (a reply or a fixed sentence) lives; what a job says after it was cancelled changes nothing;
 * - each job ends by exactly one of `ended`, `failed` or our `cancel`;
 * - each turn of the user is closed exactly once, and becomes at most one `message`;
 * - whatever holds the playout is released: when its turn closes, when its job is over, or after a breath;
 * - `end` is the last effect, and happens once.
 */
import { and, assign, emit, enqueueActions, not, raise, setup, stateIn } from 'xstate';
import type { AgentEffect, AgentEvent, EndReason } from './events.js';
import type { AgentSettings } from './settings.js';
import { type Look, lookOf, SILENCE } from './turns/endpointing.js';
import { INTERRUPTION, overlapOf, type Verdict, verdictOf } from './turns/interruption.js';

interface Context {
  readonly settings: AgentSettings;
  /** The number of the last job. */
  readonly job: number;
  /** Whether this job speaks. */
  readonly aloud: boolean;
  readonly audible: boolean;
  readonly hangingUp: boolean;
  /** Whether this job is our excuse for one that failed. */
  readonly excusing: boolean;
  readonly span: number;
  readonly text: string;
  readonly final: boolean;
  /** A turn that is answered when the job has ended. */
  readonly pending: boolean;
  /** Times in a row that the agent has broken the silence. */
  readonly reengaged: number;
}

export const TIMES = {
  /** A sound that has brought no words by then stops holding the agent: music goes on for longer. */
  breathMs: 2000,
  /** How long a turn waits for its last words when all silence has passed. */
  wordsMs: 5000,
  /** Silence on both sides before the agent speaks up, and how often in a row it does. */
  reengageMs: 10_000,
  reengageAtMost: 2,
  /** decisions.md fine point 13. */
  goneMs: 20_000,
} as const;

const hasWords = ({ text }: Context): boolean => overlapOf(text) !== 'noise';

/** What is said to an agent that has not been heard yet takes nothing from it. */
function verdict(context: Context, finished: boolean): Verdict | undefined {
  const { settings, audible, text } = context;
  if (!audible) return overlapOf(text, finished) === 'speech' ? 'interrupt' : finished ? 'ignore' : undefined;
  const found = verdictOf(text, settings.sensitivity, finished);
  if (settings.interruptible) return found;
  return finished && overlapOf(text) === 'speech' ? 'later' : finished ? 'ignore' : undefined;
}

const silence = ({ settings }: Context, look: Look): number => SILENCE[settings.eagerness][look];

const parts = setup({
  types: {} as { context: Context; input: AgentSettings; events: AgentEvent; emitted: AgentEffect },
  delays: {
    maxDuration: ({ context }) => context.settings.maxDurationMs,
    hold: ({ context }) => INTERRUPTION[context.settings.sensitivity].holdMs ?? 0,
    complete: ({ context }) => silence(context, 'complete'),
    open: ({ context }) => silence(context, 'open') - silence(context, 'complete'),
    unfinished: ({ context }) => silence(context, 'unfinished') - silence(context, 'open'),
    words: TIMES.wordsMs,
    breath: TIMES.breathMs,
    reengage: TIMES.reengageMs,
    gone: TIMES.goneMs,
  },
  guards: {
    isCurrent: ({ context, event }) => 'job' in event && event.job === context.job,
    isOfThisSpan: ({ context, event }) => event.type === 'heard' && event.span === context.span,
    isFinal: ({ event }) => event.type === 'heard' && event.final,
    isActive: ({ event }) => event.type === 'voice' && event.active,
    opens: ({ context }, mode: AgentSettings['opening']['mode']) => context.settings.opening.mode === mode,
    /** The transcript is whole and looks like one of these. */
    looks: ({ context }, looks: readonly Look[]) =>
      context.final && looks.includes(lookOf(context.text, context.settings.language)),
    isWhole: ({ context }) => context.final,
    hasWords: ({ context }) => hasWords(context),
    holds: ({ context }) =>
      context.settings.interruptible && INTERRUPTION[context.settings.sensitivity].holdMs !== null,
    says: ({ context, event }, wanted: Verdict) =>
      verdict(context, event.type === 'closed' || (event.type === 'overlap' && event.finished)) === wanted,
    isPending: ({ context }) => context.pending,
    isHangingUp: ({ context }) => context.hangingUp,
    isExcusing: ({ context }) => context.excusing,
    reengages: ({ context }) => context.settings.reengage && context.reengaged < TIMES.reengageAtMost,
    isTalkedOver: and(['holds', stateIn({ talking: { user: 'speaking' } })]),
    userIsQuiet: stateIn({ talking: { user: 'quiet', link: 'up' } }),
  },
  actions: {
    beginSpan: assign({ span: ({ context }) => context.span + 1, final: false }),
    hear: assign(({ event }) => (event.type === 'heard' ? { text: event.text, final: event.final } : {})),
    giveUpOnWords: assign({ final: true }),
    transcribe: emit(({ context }) => ({ type: 'transcribe' as const, span: context.span })),
    weigh: raise({ type: 'overlap', finished: false }),
    weighAll: raise({ type: 'overlap', finished: true }),
    closeTurn: raise({ type: 'closed' }),
    announceClose: emit({ type: 'close' }),
    forgetWords: assign({ text: '', final: false }),
    message: emit(({ context }) => ({ type: 'message' as const, text: context.text })),
    postpone: enqueueActions(({ context, enqueue }) => {
      enqueue.assign({ pending: true });
      enqueue.emit({ type: 'message', text: context.text, later: true });
    }),
    /** An excuse is made as its answer would have been. */
    count: assign(({ context, event }) => ({
      job: context.job + 1,
      aloud: event.type === 'failed' ? context.aloud : event.type !== 'typed' || event.aloud,
      audible: false,
      hangingUp: false,
      excusing: false,
    })),
    answer: enqueueActions(({ context, enqueue }) => {
      enqueue.assign({ pending: false });
      enqueue.emit({ type: 'reply', job: context.job, cause: 'turn', aloud: context.aloud });
    }),
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
    excuse: enqueueActions(({ context, enqueue }) => {
      enqueue.assign({ excusing: true });
      enqueue.emit({ type: 'excuse', job: context.job, aloud: context.aloud });
    }),
    becomeAudible: assign({ audible: true }),
    noteHangUp: assign({ hangingUp: true }),
    drop: assign({ pending: false }),
    letGo: raise({ type: 'release' }),
    cancel: emit(({ context }) => ({ type: 'cancel' as const, job: context.job })),
    hold: emit({ type: 'hold' }),
    release: emit({ type: 'release' }),
    show: emit((_, state: 'listening' | 'thinking' | 'speaking') => ({ type: 'state' as const, state })),
    end: emit((_, reason: EndReason) => ({ type: 'end' as const, reason })),
    noteUser: assign({ reengaged: 0 }),
  },
});

/** The user's words become a message and get their answer. */
const ANSWER = ['noteUser', 'message', 'count', 'answer'] as const;
const ANSWER_TYPED = ['noteUser', 'read', 'count', 'answer'] as const;

const ends = (reason: EndReason) => ({ target: '#over', actions: { type: 'end', params: reason } }) as const;

const says = (verdict: Verdict) => ({ type: 'says', params: verdict }) as const;

/** What the user says while a job lives. */
const WEIGHED = {
  overlap: [
    { guard: says('interrupt'), target: '#idle', actions: 'cancel' },
    { guard: says('ignore'), actions: 'letGo' },
  ],
  closed: [
    { guard: says('interrupt'), target: '#thinking', actions: ['cancel', ...ANSWER] },
    { guard: says('later'), actions: ['noteUser', 'postpone', 'letGo'] },
    { actions: 'letGo' },
  ],
  typed: { target: '#thinking', reenter: true, actions: ['cancel', ...ANSWER_TYPED] },
  interrupt: [
    { guard: 'isPending', target: '#thinking', reenter: true, actions: ['cancel', 'count', 'answer'] },
    { target: '#idle', actions: 'cancel' },
  ],
} as const;

/** How a job ends by itself. */
const ENDINGS = {
  hangUp: { guard: 'isCurrent', actions: 'noteHangUp' },
  ended: [
    { guard: and(['isCurrent', 'isHangingUp']), ...ends('agent_hangup') },
    { guard: and(['isCurrent', 'isPending']), target: '#thinking', actions: ['count', 'answer'] },
    { guard: 'isCurrent', target: '#idle' },
  ],
  failed: [
    {
      guard: and(['isCurrent', 'isExcusing', 'isPending']),
      target: '#thinking',
      actions: ['count', 'answer'],
    },
    { guard: and(['isCurrent', 'isExcusing']), target: '#idle' },
    { guard: 'isCurrent', target: '#thinking', actions: ['count', 'excuse'] },
  ],
} as const;

export const agentMachine = parts.createMachine({
  id: 'agent',
  context: ({ input }) => ({
    settings: input,
    job: 0,
    aloud: true,
    audible: false,
    hangingUp: false,
    excusing: false,
    span: 0,
    text: '',
    final: false,
    pending: false,
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
                {
                  guard: { type: 'opens', params: 'fixed' },
                  target: 'thinking',
                  actions: ['count', 'greet'],
                },
                {
                  guard: { type: 'opens', params: 'prompt' },
                  target: 'thinking',
                  actions: ['count', 'open'],
                },
                { target: 'idle' },
              ],
            },
            idle: {
              id: 'idle',
              entry: ['drop', { type: 'show', params: 'listening' }],
              on: {
                closed: { guard: 'hasWords', target: 'thinking', actions: ANSWER },
                typed: { target: 'thinking', actions: ANSWER_TYPED },
                activity: { target: 'idle', reenter: true },
                voice: { target: 'idle', reenter: true },
              },
              after: {
                reengage: [
                  {
                    guard: and(['reengages', 'userIsQuiet']),
                    target: 'thinking',
                    actions: ['count', 'reengage'],
                  },
                  { target: 'idle', reenter: true },
                ],
              },
            },
            /** A job lives, and nothing of it has been heard yet. */
            thinking: {
              id: 'thinking',
              entry: { type: 'show', params: 'thinking' },
              on: {
                ...WEIGHED,
                audible: { guard: 'isCurrent', target: 'speaking', actions: 'becomeAudible' },
                ...ENDINGS,
              },
            },
            speaking: {
              entry: { type: 'show', params: 'speaking' },
              initial: 'beginning',
              on: { ...WEIGHED, ...ENDINGS },
              states: {
                beginning: { always: [{ guard: 'isTalkedOver', target: 'held' }, { target: 'flowing' }] },
                flowing: { on: { hold: 'held' } },
                /** The user makes a sound: one that turns out to mean nothing lets the agent go on. */
                held: {
                  entry: 'hold',
                  exit: 'release',
                  on: { release: 'flowing' },
                  after: { breath: 'flowing' },
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
              after: { hold: { guard: 'holds', actions: raise({ type: 'hold' }) } },
              on: {
                voice: { guard: not('isActive'), target: 'settling' },
                heard: { guard: 'isOfThisSpan', actions: ['hear', 'weigh'] },
              },
            },
            /** Silence: a pause, or the end of the turn. */
            settling: {
              entry: 'transcribe',
              initial: 'briefly',
              on: {
                voice: { guard: 'isActive', target: 'speaking', actions: 'beginSpan' },
                heard: { guard: and(['isOfThisSpan', 'isFinal']), actions: ['hear', 'weighAll'] },
              },
              states: {
                briefly: { after: { complete: 'a while' } },
                'a while': {
                  always: { guard: { type: 'looks', params: ['complete'] }, target: '#closing' },
                  after: { open: 'long' },
                },
                long: {
                  always: {
                    guard: { type: 'looks', params: ['complete', 'open'] },
                    target: '#closing',
                  },
                  after: { unfinished: 'long enough' },
                },
                'long enough': {
                  always: { guard: 'isWhole', target: '#closing' },
                  after: { words: { target: '#closing', actions: 'giveUpOnWords' } },
                },
              },
            },
            /** The agent's side decides what becomes of the words before they are forgotten. */
            closing: {
              id: 'closing',
              entry: 'closeTurn',
              on: { closed: { target: 'quiet', actions: 'announceClose' } },
            },
          },
        },
      },
    },
    over: { id: 'over', type: 'final' },
  },
});
