/**
 * One speech socket of protocol B around its contexts (stream-input.ts): until it is known who calls, while
 * contexts live, and until the last of them is over.
 *
 * Invariants:
 * - `close` is the last effect, exactly one, unless the client has gone first; after it nothing is taken;
 * - it closes normally only when the client wants no more and no context is left, else after a `refuse`;
 * - it falls silent only where no context lives, for these watch over their own silence.
 */
import { assign, emit, setup } from 'xstate';
import type { SocketFault } from './stream-input.js';

export interface SpeechSocket {
  readonly inactivityMs: number;
  /** What is said of a client that says nothing. */
  readonly silence: SocketFault;
}

export type SpeechSocketEvent =
  | { readonly type: 'identified' }
  /** The client has said something. */
  | { readonly type: 'heard' }
  /** A context has begun, one is over. */
  | { readonly type: 'opened' }
  | { readonly type: 'ended' }
  /** The client wants no more than what it has asked for. */
  | { readonly type: 'leave' }
  | { readonly type: 'fault'; readonly fault: SocketFault }
  | { readonly type: 'gone' };

export type SpeechSocketEffect =
  /** The client is told why, and a `close` follows. */
  | { readonly type: 'refuse'; readonly fault: SocketFault }
  | { readonly type: 'close'; readonly fault?: SocketFault };

interface Context extends SpeechSocket {
  readonly contexts: number;
}

const parts = setup({
  types: {} as {
    context: Context;
    input: SpeechSocket;
    events: SpeechSocketEvent;
    emitted: SpeechSocketEffect;
  },
  delays: { silence: ({ context }) => context.inactivityMs },
  guards: {
    isLast: ({ context }) => context.contexts === 1,
  },
  actions: {
    more: assign({ contexts: ({ context }) => context.contexts + 1 }),
    less: assign({ contexts: ({ context }) => context.contexts - 1 }),
    close: emit({ type: 'close' }),
    refuse: emit((_, { fault }: { fault: SocketFault }) => ({ type: 'refuse' as const, fault })),
    closeFor: emit((_, { fault }: { fault: SocketFault }) => ({ type: 'close' as const, fault })),
  },
});

export const speechSocket = parts.createMachine({
  id: 'socket',
  context: ({ input }) => ({ ...input, contexts: 0 }),
  initial: 'unknown',
  on: {
    fault: {
      target: '.closed',
      actions: [
        { type: 'refuse', params: ({ event }) => event },
        { type: 'closeFor', params: ({ event }) => event },
      ],
    },
    gone: '.closed',
  },
  states: {
    /** Nobody knows yet who calls. */
    unknown: {
      on: { identified: 'empty' },
      after: { silence: 'fallenSilent' },
    },
    empty: {
      on: {
        heard: { target: 'empty', reenter: true },
        opened: { target: 'occupied', actions: 'more' },
        leave: { target: 'closed', actions: 'close' },
      },
      after: { silence: 'fallenSilent' },
    },
    occupied: {
      on: {
        opened: { actions: 'more' },
        ended: [{ guard: 'isLast', target: 'empty', actions: 'less' }, { actions: 'less' }],
        leave: 'leaving',
      },
    },
    /** Contexts finish what they were asked for. */
    leaving: {
      on: {
        ended: [{ guard: 'isLast', target: 'closed', actions: ['less', 'close'] }, { actions: 'less' }],
      },
    },
    fallenSilent: {
      entry: [
        { type: 'refuse', params: ({ context }) => ({ fault: context.silence }) },
        { type: 'closeFor', params: ({ context }) => ({ fault: context.silence }) },
      ],
      always: 'closed',
    },
    closed: { type: 'final' },
  },
});
