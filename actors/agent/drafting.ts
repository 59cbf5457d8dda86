/**
 * The draft: an answer that is made during endpointing, or from the short pause on that may become the end, so that the silence costs no
 * time. It is not played, and no tool runs for it, before the turn has ended with the words that it answers; if the user makes a sound,
 * goes on, or turns out to have said something else, it is discarded, and what was owed before it is owed still.
 */
import { and, not } from 'xstate';
import { parts } from './parts.js';
import { ANSWER, ANSWER_TYPED, APOLOGISE, ASK_AGAIN, DRAFT, EXCUSE, REDRAFT } from './sequences.js';

/** The turn has ended with the words that the draft answers. */
const SURE = ['noteUser', 'message', 'sure'] as const;

/** The words that the draft answers are not those that were said. */
const OTHERWISE = and(['isFinished', not('isDraftOfTurn')]);
const AGAIN = { target: '#drafting', reenter: true } as const;

export const drafting = parts.createStateConfig({
  id: 'drafting',
  initial: 'alive',
  on: {
    voice: { guard: 'isActive', target: '#undrafted' },
    foreseen: { guard: 'isUnforeseen', target: '#undrafted' },
    overlap: [
      { guard: and([OTHERWISE, 'isDraftable']), ...AGAIN, actions: DRAFT },
      { guard: OTHERWISE, target: '#undrafted' },
    ],
    turnOver: [
      { guard: 'hasWords', target: '#working', actions: ANSWER },
      { guard: 'asksAgain', target: '#working', actions: ASK_AGAIN },
      { target: '#undrafted', actions: 'endTurn' },
    ],
    typed: { target: '#working', actions: ANSWER_TYPED },
    interrupt: { target: '#idle', actions: 'closeTurn' },
  },
  states: {
    alive: {
      initial: 'pending',
      on: {
        voice: { guard: 'isActive', target: '#undrafted', actions: 'cancel' },
        foreseen: { guard: 'isUnforeseen', target: '#undrafted', actions: 'cancel' },
        overlap: [
          { guard: and([OTHERWISE, 'isDraftable']), ...AGAIN, actions: REDRAFT },
          { guard: OTHERWISE, target: '#undrafted', actions: 'cancel' },
        ],
        turnOver: [
          { guard: 'hasWords', target: '#working', actions: ['cancel', ...ANSWER] },
          { guard: 'asksAgain', target: '#working', actions: ['cancel', ...ASK_AGAIN] },
          { target: '#undrafted', actions: ['cancel', 'endTurn'] },
        ],
        typed: { target: '#working', actions: ['cancel', ...ANSWER_TYPED] },
        interrupt: { target: '#idle', actions: ['cancel', 'closeTurn'] },
        failed: { guard: 'isCurrent', target: 'broken', actions: 'noteFailedPart' },
        ended: { guard: 'isCurrent', target: 'empty' },
      },
      states: {
        pending: {
          on: {
            audible: { guard: 'isCurrent', target: 'ready' },
            turnOver: { guard: 'isDraftOfTurn', target: '#working', actions: SURE },
          },
        },
        ready: {
          entry: 'pause',
          exit: 'resume',
          on: { turnOver: { guard: 'isDraftOfTurn', target: '#speaking', actions: SURE } },
        },
      },
    },
    /** The model has failed; it is not asked again. */
    broken: {
      on: {
        turnOver: [
          {
            guard: and(['isDraftOfTurn', 'isLastFailure']),
            target: '#apologising',
            actions: ['noteUser', 'message', ...APOLOGISE],
          },
          {
            guard: 'isDraftOfTurn',
            target: '#excusing',
            actions: ['noteUser', 'message', ...EXCUSE],
          },
        ],
      },
    },
    /** The draft has no words. */
    empty: {
      on: { turnOver: { guard: 'isDraftOfTurn', target: '#idle', actions: ['noteUser', 'message'] } },
    },
  },
});
