/** The agent while a job runs: thinking and speaking, and the effect of the user's words on it. */
import { and, not, or } from 'xstate';
import { parts } from './parts.js';
import { AGREE, ANSWER, ANSWER_TYPED, APOLOGISE, ASK_AGAIN, asks, ends, EXCUSE, says } from './sequences.js';

/** Another job replaces this one. */
const NEXT = { target: '#working', reenter: true } as const;

/** The apology has been said, or cannot be: the call ends. */
const APOLOGISED = [
  { guard: and(['isCurrent', 'isApologising', 'isSpeechAtFault']), ...ends('speech_failure') },
  { guard: and(['isCurrent', 'isApologising']), ...ends('llm_endpoint_failure') },
] as const;

/** Events that end a job, or close its turn. */
const ENDINGS = {
  acted: { guard: 'isCurrent', actions: 'closeTurn' },
  typed: { ...NEXT, actions: ['cancel', ...ANSWER_TYPED] },
  interrupt: [
    { guard: 'isAsked', ...NEXT, actions: ['cancel', 'closeTurn', ...asks('turn')] },
    { target: '#idle', actions: ['cancel', 'closeTurn'] },
  ],
  ended: [
    ...APOLOGISED,
    {
      guard: and(['isCurrent', 'isHangingUp', 'isGoodbye', 'isFloorFree', not('isAsked')]),
      ...ends('conversation_timeout'),
    },
    {
      guard: and(['isCurrent', 'isHangingUp', 'isFloorFree', not('isAsked')]),
      ...ends('agent_hangup'),
    },
    { guard: and(['isCurrent', 'isLeaving']), ...ends('conversation_timeout') },
    {
      guard: and(['isCurrent', 'isAsked']),
      ...NEXT,
      actions: ['noteAnswered', 'closeTurn', ...asks('turn')],
    },
    { guard: and(['isCurrent', 'isHangingUp']), target: '#parting', actions: 'closeTurn' },
    {
      guard: and(['isCurrent', 'isHandingOver']),
      ...NEXT,
      actions: ['noteAnswered', 'closeTurn', ...asks('handover')],
    },
    { guard: 'isCurrent', target: '#idle', actions: ['noteAnswered', 'closeTurn'] },
  ],
  failed: [
    ...APOLOGISED,
    {
      guard: and(['isCurrent', 'isHangingUp', 'isGoodbye', 'isFloorFree', not('isAsked')]),
      ...ends('conversation_timeout'),
    },
    {
      guard: and(['isCurrent', 'isHangingUp', 'isUnasked', 'isFloorFree', not('isAsked')]),
      ...ends('agent_hangup'),
    },
    {
      guard: and(['isCurrent', 'isHangingUp', 'isUnasked', not('isAsked')]),
      target: '#parting',
      actions: 'closeTurn',
    },
    { guard: and(['isCurrent', 'isUnasked', 'isAsked']), ...NEXT, actions: ['closeTurn', ...asks('turn')] },
    { guard: and(['isCurrent', 'isUnasked']), target: '#idle', actions: 'closeTurn' },
    {
      guard: and(['isCurrent', 'isLastFailure']),
      target: '#apologising',
      reenter: true,
      actions: ['noteFailedPart', ...APOLOGISE],
    },
    {
      guard: and(['isCurrent', 'isAsked']),
      target: ['#excusing', '#asked'],
      reenter: true,
      actions: ['noteFailedPart', ...EXCUSE],
    },
    { guard: 'isCurrent', target: '#excusing', reenter: true, actions: ['noteFailedPart', ...EXCUSE] },
  ],
  sentenceOver: {
    guard: and(['isCurrent', 'isLeaving']),
    target: '#over',
    actions: ['cancel', 'flush', { type: 'end', params: 'conversation_timeout' }],
  },
} as const;

/** Its tools run: if nothing was said before them, they get a filler sooner. */
const CALLED = {
  acted: { guard: and(['isCurrent', 'fills']), target: 'calling', actions: 'closeTurn' },
} as const;

/** Nothing of the job has been heard yet, so the user's words belong to the turn that it answers. */
const unheard = parts.createStateConfig({
  initial: 'thinking',
  entry: { type: 'show', params: 'thinking' },
  on: {
    overlap: [
      { guard: 'belongs', target: '#owing', actions: 'cancel' },
      { guard: 'isFinished', actions: 'goOn' },
    ],
    turnOver: [
      { guard: 'isAgreement', actions: [...AGREE, 'goOn'] },
      { guard: 'hasWords', ...NEXT, actions: ['cancel', ...ANSWER] },
      { guard: 'belongs', ...NEXT, actions: ['cancel', ...ASK_AGAIN] },
      { actions: 'goOn' },
    ],
  },
  states: {
    thinking: {
      id: 'thinking',
      on: {
        audible: [
          {
            guard: and(['isCurrent', or(['isVoiced', and(['isEndpointing', 'isOwing'])])]),
            target: 'held',
          },
          { guard: 'isCurrent', target: '#speaking' },
        ],
      },
    },
    /** Its speech is ready, but the user makes a sound, or has made one that is not transcribed yet. */
    held: { entry: 'pause', exit: 'resume', on: { goOn: '#speaking' } },
  },
});

const speaking = parts.createStateConfig({
  id: 'speaking',
  entry: { type: 'show', params: 'speaking' },
  initial: 'flowing',
  on: {
    overlap: [
      { guard: and([says('interrupt'), 'isFinished']), target: '#idle', actions: ['cancel', 'weighAll'] },
      { guard: and(['interruptsForSure', 'isAsked']), target: '#owing', actions: 'cancel' },
      { guard: 'interruptsForSure', target: '#cutOff', actions: 'cancel' },
      { guard: says('interrupt'), actions: 'bargeIn' },
      { guard: 'isFinished', actions: 'goOn' },
    ],
    turnOver: [
      { guard: says('interrupt'), ...NEXT, actions: ['cancel', ...ANSWER] },
      { guard: 'isAgreement', actions: [...AGREE, 'goOn'] },
      { actions: ['closeTurn', 'goOn'] },
    ],
  },
  states: {
    flowing: {
      id: 'flowing',
      initial: 'middle',
      after: { join: { actions: 'noteHeard' } },
      states: {
        middle: { on: { bargeIn: '#paused', ending: { guard: 'isCurrent', target: 'ending' } } },
        /** Its last words: the agent finishes them even if the user begins, whose words may be the answer. */
        ending: { id: 'ending' },
      },
    },
    /** A hold until the user's words are known; after a sound without meaning the agent resumes at the same frame. */
    paused: { id: 'paused', entry: 'pause', exit: 'resume', on: { goOn: 'flowing' } },
  },
});

/** Its tools have answered: the job itself is waited for again, if anybody does. */
const RETURNED = { returned: { guard: 'isCurrent', target: 'young' } } as const;

/** How long the job has run: its tools change nothing about that, however fast they answer. */
const age = parts.createStateConfig({
  initial: 'new',
  states: { new: { after: { fillerLeast: 'old' } }, old: { id: 'old' } },
});

/**
 * The lines that fill a long wait for an answer, whatever takes long, and a long silence in the middle of it; in a job that the agent
 * began by itself, once, while its tools run.
 */
const filler = parts.createStateConfig({
  initial: 'young',
  on: {
    audible: { guard: 'isCurrent', target: '.answered' },
    fed: { guard: 'isCurrent', target: '.answered' },
    dry: { guard: and(['isCurrent', 'isAwaited']), target: '.dried' },
  },
  states: {
    young: { on: CALLED, always: { guard: and(['isOld', 'isAwaited']), target: 'patient' } },
    /** The user has waited for long, or soon will have. */
    patient: {
      on: CALLED,
      always: { guard: 'hasWaited', target: 'filling' },
      after: { fillerRest: 'filling' },
    },
    /** Tools run, and nothing was said before them. */
    calling: {
      on: RETURNED,
      after: { filler: 'filling' },
    },
    /** A filler is said as soon as the user is quiet, or has been silent for long. */
    filling: {
      on: RETURNED,
      always: {
        guard: and(['isThinking', 'isUnbridged', or(['isUserQuiet', 'isUnheard'])]),
        target: 'said',
        actions: 'fill',
      },
    },
    said: {
      on: { filled: { guard: 'isCurrent', target: 'rested' } },
      after: { fillerHeard: 'rested' },
    },
    rested: { after: { fillerAgain: { guard: 'isAwaited', target: 'filling' } } },
    /** There is more of the answer to be heard. */
    answered: {},
    /** There is not, and the user may have to wait for long. */
    dried: { after: { fillerAgain: 'refilling' } },
    refilling: { always: { guard: and(['isFlowing', 'isUserQuiet']), target: 'said', actions: 'fill' } },
  },
});

export const working = parts.createStateConfig({
  id: 'working',
  type: 'parallel',
  on: ENDINGS,
  states: {
    voice: { initial: 'unheard', states: { unheard, speaking } },
    /** The purpose of the job. */
    task: {
      initial: 'answering',
      states: {
        answering: {
          on: {
            hangUp: { guard: 'isCurrent', target: 'hangingUp' },
            handedOver: { guard: 'isCurrent', target: 'handingOver', actions: 'adopt' },
          },
        },
        /** Another agent continues after this job. */
        handingOver: { id: 'handingOver' },
        /** The call ends with this job. */
        hangingUp: { id: 'hangingUp' },
        /** The job says that the previous one has failed. It asks no model, so it cannot hang up. */
        excusing: { id: 'excusing' },
        /** The same, for the last time: the call ends with it. */
        apologising: { id: 'apologising' },
      },
    },
    /** Whether tools that the model wants wait until they may begin (effects.ts). */
    tools: {
      initial: 'begun',
      on: { wants: { guard: 'isCurrent', target: '.wanted', actions: 'noteWanted' } },
      states: {
        begun: { entry: 'forgetWanted' },
        wanted: {
          always: [
            { guard: 'isHarmless', target: 'begun', actions: 'proceed' },
            { guard: 'isAsked', target: 'begun', actions: 'desist' },
            { guard: 'isFloorFree', target: 'begun', actions: 'proceed' },
          ],
        },
      },
    },
    age,
    filler,
    /** Whether the user has asked something to be answered after the job has ended. */
    question: {
      initial: 'none',
      on: {
        turnOver: {
          guard: and(['isSpeaking', 'isAnsweredLater']),
          target: '.asked',
          actions: ['noteUser', 'messageApart'],
        },
      },
      states: { none: {}, asked: { id: 'asked' } },
    },
  },
});
