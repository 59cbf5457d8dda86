/**
 * One conversation between a user and an agent (docs/contract/platform.md 6.7, docs/contract/decisions.md "Platform", decisions 11 and 13).
 * The host beside it performs the effects: it transcribes, thinks, speaks, keeps the record. Bytes and words of
 * the reply never come by here; the user's words do, because turns are decided by them.
 *
 * Invariants:
 * - at most one job (a reply or a fixed sentence) lives; what a job says after it was cancelled changes nothing;
 * - each job ends by exactly one of `ended`, `failed` or our `cancel`;
 * - every final transcript with words is part of exactly one `message`, whenever it comes before the end;
 * - a turn has one answer: one that is withdrawn before it was heard, or as it began, is asked for again;
 * - the agent neither begins nor goes on while the user's voice is active or a transcript is owed, for a minute at most, and no
 *   longer than it takes to hear that the sound has no words;
 * - whatever pauses the playout lets it go on: when its turn closes, when its job is over, or when it was noise;
 * - `end` is the last effect, and happens once.
 */
import { and } from 'xstate';
import { contextOf } from './context.js';
import type { Cause } from './events.js';
import { drafting } from './drafting.js';
import { working } from './job.js';
import { AGREE, ANSWER, ANSWER_TYPED, asks, COUNT_SENTENCE, DRAFT, ends, parts } from './parts.js';
import { user } from './user.js';

const link = parts.createStateConfig({
  initial: 'up',
  states: {
    up: { on: { disconnected: 'down' } },
    down: { on: { connected: 'up' }, after: { gone: ends('gone') } },
  },
});

/** The longest duration draws near. */
const duration = parts.createStateConfig({
  initial: 'early',
  after: { lastWords: '.leaving' },
  states: {
    early: { after: { warn: { guard: 'isLong', target: 'due' } } },
    /** The user is warned as soon as nobody speaks. */
    due: { id: 'warningDue', on: { warned: 'late' } },
    late: {},
    /** The call ends with the agent's sentence, or its answer. */
    leaving: { id: 'leaving', entry: 'lastWords' },
  },
});

/** Whether a tool has answered beside the conversation, and the model has not been asked since. */
const news = parts.createStateConfig({
  initial: 'told',
  states: {
    told: { on: { news: 'untold' } },
    untold: { id: 'untold', on: { informed: 'told' } },
  },
});

/** The user's words are all known and may be the whole turn: the model is asked for an answer that nobody hears before that is sure. */
const DRAFTS = { guard: 'isDraftable', target: '#drafting', actions: DRAFT } as const;

/** The user has the floor. Asks the model for that cause when the turn is over and has no words. */
const unlessWords = (cause: Cause) =>
  parts.createStateConfig({
    entry: { type: 'show', params: 'listening' },
    on: {
      overlap: DRAFTS,
      turnOver: [
        { guard: 'hasWords', target: '#working', actions: ANSWER },
        { target: '#working', actions: asks(cause) },
      ],
      typed: { target: '#working', actions: ANSWER_TYPED },
      interrupt: { target: '#idle', actions: 'closeTurn' },
    },
  });

const agent = parts.createStateConfig({
  initial: 'opening',
  states: {
    opening: {
      always: [
        { guard: { type: 'opens', params: 'fixed' }, target: 'working', actions: [COUNT_SENTENCE, 'greet'] },
        { guard: { type: 'opens', params: 'prompt' }, target: 'working', actions: asks('opener') },
        { target: 'idle' },
      ],
    },
    idle: {
      id: 'idle',
      entry: { type: 'show', params: 'listening' },
      always: [
        {
          guard: and(['isWarningDue', 'isUserQuiet']),
          target: 'working',
          actions: [COUNT_SENTENCE, 'warn'],
        },
        { guard: and(['isUntold', 'isUserQuiet']), target: 'working', actions: asks('news') },
      ],
      on: {
        overlap: DRAFTS,
        turnOver: [
          { guard: 'isAgreement', actions: AGREE },
          { guard: 'hasWords', target: 'working', actions: ANSWER },
        ],
        typed: { target: 'working', actions: ANSWER_TYPED },
        activity: { target: 'idle', reenter: true },
        voice: { target: 'idle', reenter: true },
      },
      after: {
        reengage: [
          {
            guard: and(['givesUp', 'isUserQuiet']),
            target: '#hangingUp',
            actions: ['noteReengaged', ...asks('farewell')],
          },
          {
            guard: and(['reengages', 'isUserQuiet']),
            target: 'working',
            actions: ['noteReengaged', ...asks('reengage')],
          },
          { target: 'idle', reenter: true },
        ],
      },
    },
    /** An answer was withdrawn before it was heard: the user seemed to go on. It is asked for when the turn is over. */
    owing: { id: 'owing', ...unlessWords('turn') },
    /** The agent was broken off by words that seemed certain. If they were none after all, it goes on. */
    cutOff: { id: 'cutOff', ...unlessWords('continue') },
    drafting,
    working,
  },
});

export const agentMachine = parts.createMachine({
  id: 'agent',
  context: ({ input }) => contextOf(input),
  initial: 'waiting',
  on: {
    left: ends('user_hangup'),
    end: {
      target: '#over',
      actions: ['flush', { type: 'end', params: ({ event }) => event.reason }],
    },
  },
  states: {
    /** Nobody has joined yet. */
    waiting: { on: { connected: 'talking' } },
    talking: {
      type: 'parallel',
      on: { echo: { actions: 'noteEcho' } },
      after: { maxDuration: ends('conversation_timeout') },
      states: { link, duration, news, agent, user },
    },
    over: { id: 'over', type: 'final' },
  },
});
