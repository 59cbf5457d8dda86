/**
 * One speech socket of protocol B, around its contexts (stream-input.ts): until its caller is known, while it has live
 * contexts, and until the last of them has ended.
 *
 * Invariants:
 * - `close` is the last effect, exactly one, unless the client leaves first; no event has an effect after it;
 * - it closes normally only if the client wants no more and no context is left, else after a `refuse`;
 * - frames are accepted from `takeFrames` to `dropFrames`, which comes before the socket closes;
 * - its inactivity timeout runs only while no context is live: contexts have their own.
 */
import { emit, setup } from 'xstate';
import type { SocketFault } from './stream-input.js';

export interface SpeechSocket {
  readonly inactivityMs: number;
  /** The fault of a client that sends nothing for too long. */
  readonly silence: SocketFault;
}

export type SpeechSocketEvent =
  | { readonly type: 'identified' }
  /** The client has sent a message. */
  | { readonly type: 'message' }
  /** A context has begun. */
  | { readonly type: 'opened' }
  /** The last live context has ended. */
  | { readonly type: 'emptied' }
  /** The client will send no more requests. */
  | { readonly type: 'leave' }
  | { readonly type: 'fault'; readonly fault: SocketFault }
  | { readonly type: 'gone' };

export type SpeechSocketEffect =
  /** Start or stop accepting frames. */
  | { readonly type: 'takeFrames' }
  | { readonly type: 'dropFrames' }
  /** Tells the client the reason; a `close` follows. */
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
    /** The caller is not known yet. */
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
        /** At least one context is live. */
        occupied: { on: { emptied: 'empty', leave: '#socket.leaving' } },
      },
    },
    /** Contexts finish their pending work. */
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
