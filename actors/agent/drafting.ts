/**
 * An answer that is made while it is still weighed whether the user has finished: the silence costs no time. Nobody hears
 * it, and no tool runs for it, before the turn is over; a user who makes a sound has gone on, and it is thrown away.
 */
import { ANSWER_TYPED, COUNT_SENTENCE, parts } from './parts.js';

/** The turn is over, and its words are those that the draft answers. */
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
        failed: { guard: 'isCurrent', target: 'broken' },
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
    /** The model has failed: it is not asked twice. */
    broken: {
      on: { turnOver: { target: '#excusing', actions: ['noteUser', 'message', COUNT_SENTENCE, 'excuse'] } },
    },
    /** It has nothing to say. */
    empty: { on: { turnOver: { target: '#idle', actions: ['noteUser', 'message'] } } },
  },
});
