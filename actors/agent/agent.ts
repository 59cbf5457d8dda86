/**
 * One conversation between a user and an agent (docs/contract/platform.md 6.7, docs/contract/decisions.md "Platform", decisions 11 and 13).
 * Its host performs the effects: it transcribes, thinks, speaks, keeps the record. Bytes and words of
 * the reply never pass through here; the user's words do, because they decide turns.
 *
 * Invariants:
 * - at most one job (a reply or a fixed sentence) runs; events of a cancelled job change nothing;
 * - each job ends by exactly one of `ended`, `failed` or our `cancel`;
 * - every final transcript with words is part of exactly one `message`, if it arrives before the end;
 * - a turn has one answer: one that is withdrawn before it was heard, or as it began, is asked for again;
 * - the agent neither begins nor continues while the user's voice is active or a transcript is owed, for a minute at most, and no
 *   longer than it takes to find that the sound has no words;
 * - nothing with an effect begins while the user's voice is active or a transcript is owed (effects.ts), except in a voice without
 *   words; what is said before it begins belongs to the turn, and the model is asked again;
 * - while an answer is awaited and nothing of it is heard, or the user's words are not known for long, fillers are said in the user's
 *   silence, unless the agent has none;
 * - answers that fail in a row end the call, with an apology;
 * - a silence of both sides ends the call, where the agent is set so; no sound of the user's without words restarts it;
 * - each pause of the playout ends: when the turn closes, when the job has ended, or when the sound was noise;
 * - `end` is the last effect, and happens once.
 */
import { and, not, or } from 'xstate';
import { contextOf } from './context.js';
import type { Cause } from './events.js';
import { drafting } from './drafting.js';
import { working } from './job.js';
import { parts } from './parts.js';
import {
  AGREE,
  ANSWER,
  ANSWER_TYPED,
  APOLOGISE,
  ASK_AGAIN,
  asks,
  counts,
  DRAFT,
  ends,
  NOT_UNDERSTOOD,
} from './sequences.js';
import { silence } from './silence.js';
import { user } from './user.js';

const link = parts.createStateConfig({
  initial: 'up',
  states: {
    up: { on: { disconnected: 'down' } },
    down: { on: { connected: 'up' }, after: { gone: ends('gone') } },
  },
});

/** Whether the call is near its maximum duration. */
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

/** Whether a tool that ran beside the conversation has answered, and the model has not been asked since. */
const news = parts.createStateConfig({
  initial: 'told',
  states: {
    told: { on: { news: 'untold' } },
    untold: { id: 'untold', on: { informed: 'told' } },
  },
});

/** Whether the user's voice has had no words for a while, across its pauses: a crowd. */
const crowd = parts.createStateConfig({
  initial: 'unvoiced',
  states: {
    unvoiced: { on: { voice: { guard: 'isActive', target: 'listened' } } },
    listened: {
      always: { guard: 'isUserSilent', target: 'unvoiced' },
      on: { transcript: { guard: and(['isOwed', 'bringsWords']), target: 'listened', reenter: true } },
      after: { wordless: 'wordless' },
    },
    wordless: {
      id: 'wordless',
      always: { guard: 'isUserSilent', target: 'unvoiced' },
      on: { transcript: { guard: and(['isOwed', 'bringsWords']), target: 'listened' } },
    },
  },
});

/** How long the user has been silent since their voice, for which they wait; what they type is waited for from then on (job.ts). */
const wait = parts.createStateConfig({
  initial: 'free',
  on: { voice: [{ guard: 'isActive', target: '.free' }, { target: '.fresh' }], typed: '.free' },
  states: {
    free: {},
    fresh: { after: { waited: 'waited' } },
    waited: { id: 'waited', after: { wait: 'free' } },
  },
});

/** A slow recogniser: while the words of a silent user are not known, and no answer is being made (job.ts), fillers are said. */
const bridging = parts.createStateConfig({
  initial: 'unbridged',
  states: {
    unbridged: {
      id: 'unbridged',
      always: { guard: and(['isUnheard', 'isIdle', 'mayBridge']), target: 'said', actions: 'bridge' },
    },
    said: {
      on: {
        voice: { guard: 'isActive', target: 'rested', actions: 'cancel' },
        interrupt: { target: 'rested', actions: 'cancel' },
        filled: 'rested',
      },
      always: { guard: not('isIdle'), target: 'followed' },
      after: { fillerHeard: 'rested' },
    },
    /** An answer has begun: it is heard after the filler. */
    followed: { on: { filled: 'rested' }, after: { fillerHeard: 'rested' } },
    rested: { after: { fillerAgain: 'unbridged' } },
  },
});

/**
 * All words of the user are known and look like the whole turn: asks the model for a draft, unheard until the turn has ended. If they
 * leave that open, only once the silence has lasted; if nothing need follow them, as soon as the voice pauses.
 */
const DRAFTS = {
  foreseen: { guard: 'isForeseen', target: '#drafting', actions: DRAFT },
  overlap: { guard: or(['isDraftable', 'isDraftableLate']), target: '#drafting', actions: DRAFT },
  lasting: { guard: 'isDraftableLate', target: '#drafting', actions: DRAFT },
} as const;

/** The user has the floor. A turn that ends without words asks the model for `cause`. */
const unlessWords = (cause: Cause) =>
  parts.createStateConfig({
    entry: { type: 'show', params: 'listening' },
    on: {
      ...DRAFTS,
      turnOver: [
        { guard: 'hasWords', target: '#working', actions: ANSWER },
        ...(cause === 'turn'
          ? [{ guard: 'asksAgain', target: '#working', actions: ASK_AGAIN } as const]
          : []),
        { target: '#working', actions: asks(cause) },
      ],
      typed: { target: '#working', actions: ANSWER_TYPED },
      interrupt: { target: '#idle', actions: 'closeTurn' },
    },
  });

/** Nobody answers: the user has the floor. */
const floor = parts.createStateConfig({
  initial: 'idle',
  states: {
    idle: {
      id: 'idle',
      entry: { type: 'show', params: 'listening' },
      always: [
        {
          guard: and(['isWarningDue', 'isUserQuiet']),
          target: '#working',
          actions: [counts('warning'), 'warn'],
        },
        { guard: and(['isUntold', 'isUserQuiet']), target: '#working', actions: asks('news') },
        {
          guard: and(['isSilenceOver', 'saysGoodbye']),
          target: '#hangingUp',
          actions: [counts('goodbye'), 'sayGoodbye'],
        },
        { guard: 'isSilenceOver', ...ends('conversation_timeout') },
      ],
      on: {
        ...DRAFTS,
        turnOver: [
          { guard: 'isAgreement', actions: AGREE },
          { guard: 'hasWords', target: '#working', actions: ANSWER },
          {
            guard: and(['isLost', 'isLastFailure']),
            target: '#apologising',
            actions: ['noteDeaf', 'message', ...APOLOGISE],
          },
          { guard: 'isLost', target: '#excusing', actions: NOT_UNDERSTOOD },
          { guard: 'asksAgain', target: '#working', actions: ASK_AGAIN },
        ],
        typed: { target: '#working', actions: ANSWER_TYPED },
        activity: { target: 'idle', reenter: true },
        voice: { target: 'idle', reenter: true },
      },
      after: {
        reengage: [
          {
            guard: and(['givesUp', 'isUserQuiet']),
            target: '#hangingUp',
            actions: asks('farewell'),
          },
          {
            guard: and(['reengages', 'isUserQuiet']),
            target: '#working',
            actions: ['noteReengaged', ...asks('reengage')],
          },
          { target: 'idle', reenter: true },
        ],
      },
    },
    /** An answer was withdrawn before it was heard, as the user seemed to continue. It is asked for again when the turn ends. */
    owing: { id: 'owing', ...unlessWords('turn') },
    /** Words that seemed certain interrupted the agent. It continues if there were none after all. */
    cutOff: { id: 'cutOff', ...unlessWords('continue') },
    /** Where a draft began that came to nothing: what was owed before it is owed still. */
    undrafted: { id: 'undrafted', type: 'history' },
  },
});

const agent = parts.createStateConfig({
  initial: 'opening',
  states: {
    opening: {
      always: [
        {
          guard: { type: 'opens', params: 'fixed' },
          target: 'working',
          actions: [counts('greeting'), 'greet'],
        },
        { guard: { type: 'opens', params: 'prompt' }, target: 'working', actions: asks('opener') },
        { target: 'floor' },
      ],
    },
    floor,
    /** The agent has said goodbye while the user made a sound. The call ends unless that has words. */
    parting: {
      id: 'parting',
      entry: { type: 'show', params: 'listening' },
      always: [
        { guard: and(['isFloorFree', 'isGoodbye']), ...ends('conversation_timeout') },
        { guard: 'isFloorFree', ...ends('agent_hangup') },
      ],
      on: {
        turnOver: [
          { guard: 'isAgreement', actions: AGREE },
          { guard: 'hasWords', target: 'working', actions: ANSWER },
        ],
        typed: { target: 'working', actions: ANSWER_TYPED },
        interrupt: { target: '#idle' },
      },
    },
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
      on: {
        echo: { actions: 'noteEcho' },
        asked: { actions: 'noteAsked' },
        runsBeside: { actions: 'noteBeside' },
        replaced: { actions: 'adopt' },
      },
      after: { maxDuration: ends('conversation_timeout') },
      states: { link, duration, news, agent, user, crowd, wait, bridging, silence },
    },
    over: { id: 'over', type: 'final' },
  },
});
