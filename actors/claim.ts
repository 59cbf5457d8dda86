/**
 * The single use of a join token: decides whether its client has come to its call (docs/contract/transport.md "Single use"). A
 * second use is refused. The token is spent before the client opens signalling, and a client that leaves before its media is up may have no other token: then
 * the token is given back, so that the client can join again, in any process.
 *
 * Invariants:
 * - at most one `giveBack`, and none once the user was connected or the call has ended;
 * - `wait` and `settled` alternate, beginning with `wait`: between them no client may join, as the token may be given back.
 */
import { assign, emit, setup } from 'xstate';
import { CALL_TIMES } from '../contracts/limits/call-times.js';

export type ClaimEvent =
  /** The client opened or closed a signalling connection. */
  | { readonly type: 'opened' }
  | { readonly type: 'closed' }
  /** Its media is up: it now has its own token to return with. */
  | { readonly type: 'connected' }
  /** The call has ended. */
  | { readonly type: 'over' }
  /** The token was given back. */
  | { readonly type: 'given' };

export type ClaimEffect =
  /** Clients that join must wait. */
  | { readonly type: 'wait' }
  | { readonly type: 'settled' }
  /** End the call without its session, and give the token back. */
  | { readonly type: 'giveBack' };

interface Context {
  /** Number of open signalling connections. */
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
    /** The token is spent, and no signalling was opened yet. */
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
    /** All signalling is closed. The worker's report that the user was connected may still arrive. */
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
