/**
 * One speech socket of protocol B around its contexts (stream-input.ts): until it is known who calls, while
 * contexts live, and until the last of them is over.
 *
 * Invariants:
 * - `close` is the last effect, exactly one, unless the client has gone first; after it nothing is taken;
 * - it closes normally only when the client wants no more and no context is left, else after a `refuse`;
 * - frames are taken from `takeFrames` to `dropFrames`, which comes before the socket closes;
 * - it falls silent only where no context lives, for these watch over their own silence.
 */
import { emit, setup } from 'xstate';
import type { SocketFault } from './stream-input.js';

export interface SpeechSocket {
  readonly inactivityMs: number;
  /** The fault of a client that says nothing. */
  readonly silence: SocketFault;
}

export type SpeechSocketEvent =
  | { readonly type: 'identified' }
  /** The client has said something. */
  | { readonly type: 'message' }
  /** A context has begun. */
  | { readonly type: 'opened' }
  /** The last context that lived is over. */
  | { readonly type: 'emptied' }
  /** The client wants no more than what it has asked for. */
  | { readonly type: 'leave' }
  | { readonly type: 'fault'; readonly fault: SocketFault }
  | { readonly type: 'gone' };

export type SpeechSocketEffect =
  /** Frames take effect from now on; or no longer. */
  | { readonly type: 'takeFrames' }
  | { readonly type: 'dropFrames' }
  /** The client is told why, and a `close` follows. */
  | { readonly type: 'refuse'; readonly fault: SocketFault }
  | { readonly type: 'close'; readonly fault?: SocketFault };

const parts = setup({
  types: {} as {
    context: SpeechSocket;
    input: SpeechSocket;
    events: SpeechSocketEvent;
    emitted: SpeechSocketEffect;
  },
  delays: { silence: ({ context }) => context.inactivityMs },
  actions: {
    takeFrames: emit({ type: 'takeFrames' }),
    dropFrames: emit({ type: 'dropFrames' }),
    close: emit({ type: 'close' }),
    refuse: emit((_, { fault }: { fault: SocketFault }) => ({ type: 'refuse' as const, fault })),
    closeFor: emit((_, { fault }: { fault: SocketFault }) => ({ type: 'close' as const, fault })),
  },
});

export const speechSocket = parts.createMachine({
  id: 'socket',
  context: ({ input }) => input,
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
      on: { identified: 'taking' },
      after: { silence: 'fallenSilent' },
    },
    taking: {
      entry: 'takeFrames',
      exit: 'dropFrames',
      initial: 'empty',
      states: {
        empty: {
          on: {
            message: { target: 'empty', reenter: true },
            opened: 'occupied',
            leave: { target: '#socket.closed', actions: 'close' },
          },
          after: { silence: '#socket.fallenSilent' },
        },
        /** Contexts live. */
        occupied: { on: { emptied: 'empty', leave: '#socket.leaving' } },
      },
    },
    /** Contexts finish what they were asked for. */
    leaving: { on: { emptied: { target: 'closed', actions: 'close' } } },
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
