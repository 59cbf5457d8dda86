/**
 * Whether a client comes to the call that its join token began (docs/contract/transport.md "Single use"). The token is
 * spent before its client has opened signalling, and a client that goes before its media is up may hold no other: then
 * the token is given back, so that it can join again, in whichever process.
 *
 * Invariants:
 * - at most one `giveBack`, and none once the user was connected or the call is over;
 * - `wait` and `settled` alternate, beginning with `wait`: in between nobody may join, as the token may go back.
 */
import { assign, emit, setup } from 'xstate';
import { CALL_TIMES } from '../contracts/call-times.js';

export type ClaimEvent =
  /** The client opened a signalling connection; it closed one. */
  | { readonly type: 'opened' }
  | { readonly type: 'closed' }
  /** Its media is up: it holds a token of its own to return with. */
  | { readonly type: 'connected' }
  /** The call is over. */
  | { readonly type: 'over' }
  /** The token was given back. */
  | { readonly type: 'given' };

export type ClaimEffect =
  /** Clients that join have to wait. */
  | { readonly type: 'wait' }
  | { readonly type: 'settled' }
  /** End the call without its session, and give the token back. */
  | { readonly type: 'giveBack' };

interface Context {
  /** Signalling connections that are open. */
  readonly links: number;
}

const parts = setup({
  types: {} as { context: Context; events: ClaimEvent; emitted: ClaimEffect },
  delays: { claim: CALL_TIMES.claimMs, report: CALL_TIMES.reportMs },
  guards: { isLast: ({ context }) => context.links === 1 },
  actions: {
    oneMore: assign({ links: ({ context }) => context.links + 1 }),
    oneLess: assign({ links: ({ context }) => context.links - 1 }),
    wait: emit({ type: 'wait' }),
    settled: emit({ type: 'settled' }),
    giveBack: emit({ type: 'giveBack' }),
  },
});

export const claim = parts.createMachine({
  id: 'claim',
  context: { links: 0 },
  initial: 'unclaimed',
  states: {
    /** The token is spent, and no signalling has been opened. */
    unclaimed: {
      on: { opened: { target: 'signalling', actions: 'oneMore' }, connected: 'claimed', over: 'claimed' },
      after: { claim: { target: 'givingBack', actions: ['wait', 'giveBack'] } },
    },
    signalling: {
      on: {
        opened: { actions: 'oneMore' },
        closed: [
          { guard: 'isLast', target: 'unheard', actions: ['oneLess', 'wait'] },
          { actions: 'oneLess' },
        ],
        connected: 'claimed',
        over: 'claimed',
      },
    },
    /** All signalling is closed. That the user was connected may still be on its way from the worker. */
    unheard: {
      on: {
        opened: { target: 'signalling', actions: ['oneMore', 'settled'] },
        connected: { target: 'claimed', actions: 'settled' },
        over: { target: 'claimed', actions: 'settled' },
      },
      after: { report: { target: 'givingBack', actions: 'giveBack' } },
    },
    givingBack: { on: { given: { target: 'givenBack', actions: 'settled' } } },
    givenBack: { type: 'final' },
    claimed: { type: 'final' },
  },
});
