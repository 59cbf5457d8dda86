/**
 * The draft: an answer that is made during endpointing, so that the silence costs no time. It is not played, and no tool
 * runs for it, before the turn has ended; if the user makes a sound, the turn continues and the draft is discarded.
 */
import { ANSWER_TYPED, APOLOGISE, EXCUSE, parts } from './parts.js';

/** The turn has ended with the words that the draft answers. */
const SURE = ['noteUser', 'message', 'sure'] as const;

export const drafting = parts.createStateConfig({
  id: 'drafting',
  initial: 'alive',
  on: {
    voice: { guard: 'isActive', target: '#idle' },
    typed: { target: '#working', actions: ANSWER_TYPED },
    interrupt: { target: '#idle' },
  },
  states: {
    alive: {
      initial: 'pending',
      on: {
        voice: { guard: 'isActive', target: '#idle', actions: 'cancel' },
        typed: { target: '#working', actions: ['cancel', ...ANSWER_TYPED] },
        interrupt: { target: '#idle', actions: 'cancel' },
        failed: { guard: 'isCurrent', target: 'broken', actions: 'noteFailedPart' },
        ended: { guard: 'isCurrent', target: 'empty' },
      },
      states: {
        pending: {
          on: {
            audible: { guard: 'isCurrent', target: 'ready' },
            turnOver: { target: '#working', actions: SURE },
          },
        },
        ready: { entry: 'pause', exit: 'resume', on: { turnOver: { target: '#speaking', actions: SURE } } },
      },
    },
    /** The model has failed; it is not asked again. */
    broken: {
      on: {
        turnOver: [
          {
            guard: 'isLastFailure',
            target: '#apologising',
            actions: ['noteUser', 'message', ...APOLOGISE],
          },
          { target: '#excusing', actions: ['noteUser', 'message', ...EXCUSE] },
        ],
      },
    },
    /** The draft has no words. */
    empty: { on: { turnOver: { target: '#idle', actions: ['noteUser', 'message'] } } },
  },
});
