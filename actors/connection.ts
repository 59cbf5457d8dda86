/**
 * One client's connection to a call (docs/contract/transport.md): its signalling, its media, and whether it intends to
 * leave. A call outlives connections: a client that drops joins again over another signalling connection (a `link`, by
 * its number), as another participant. A joining client is `joined` with its media `down`; then its media goes `up`.
 *
 * Invariants:
 * - one link at a time, a later one takes over; messages of an earlier one have no effect;
 * - `connected` and `disconnected` alternate, beginning with `connected`;
 * - a `leave` is a hang-up (`left`) only if no link joins within its grace period;
 * - each `welcome` is followed by one `release`, or by another `welcome`, which replaces it;
 * - after `close` only the farewell and one `release` follow, the last effect.
 */
import { and, assign, emit, enqueueActions, not, raise, setup, stateIn } from 'xstate';
import { CALL_TIMES } from '../contracts/limits/call-times.js';

interface OfLink {
  readonly link: number;
}

export type ConnectionEvent =
  /** A client joins as this participant. */
  | ({ readonly type: 'join'; readonly participant: string } & OfLink)
  /** It wants to continue as its former participant. Transports cannot be restarted here, so it has to join again. */
  | ({ readonly type: 'resume'; readonly participant: string } & OfLink)
  /** Its offer cannot be negotiated with its current media. */
  | ({ readonly type: 'unnegotiable' } & OfLink)
  /** It announces that it leaves, to hang up or to join again. */
  | ({ readonly type: 'leave' } & OfLink)
  /** Its signalling was lost. */
  | ({ readonly type: 'gone' } & OfLink)
  | { readonly type: 'mediaUp' }
  | { readonly type: 'mediaDown' }
  /** The call has ended. */
  | { readonly type: 'close' };

export type ConnectionEffect =
  /** Open media for it, replacing any that is open, and tell it who is there. */
  | ({ readonly type: 'welcome' } & OfLink)
  /** Tell it to join again. */
  | ({ readonly type: 'askToRejoin' } & OfLink)
  /** Close its signalling: a later link has taken over. */
  | ({ readonly type: 'closeLink' } & OfLink)
  /** Tell it to leave for good: its place is taken, or the call has ended. */
  | ({ readonly type: 'dismiss'; readonly cause: 'displaced' | 'callOver' } & OfLink)
  /** Ignore anything that its media still brings: the call has ended. */
  | { readonly type: 'ignore' }
  /** Close its media. */
  | { readonly type: 'release' }
  | { readonly type: 'connected' }
  | { readonly type: 'disconnected' }
  /** It has hung up. */
  | { readonly type: 'left' };

interface Context {
  readonly link: number | undefined;
  /** The participant whose media is open. */
  readonly participant: string | undefined;
}

const parts = setup({
  types: {} as { context: Context; events: ConnectionEvent; emitted: ConnectionEffect },
  delays: {
    leaveGrace: CALL_TIMES.leaveGraceMs,
    reconnectWindow: CALL_TIMES.reconnectWindowMs,
    farewell: CALL_TIMES.farewellMs,
  },
  guards: {
    isCurrent: ({ context, event }) => 'link' in event && event.link === context.link,
    hasMedia: ({ context }) => context.participant !== undefined,
    /** Another participant has taken its place and keeps it; otherwise the two would displace each other forever. */
    isDisplaced: ({ context, event }) =>
      event.type === 'resume' && (context.participant ?? event.participant) !== event.participant,
    isToldToRejoin: stateIn({ open: { signalling: 'rejoining' } }),
  },
  actions: {
    /** Makes the event's link the client's current one. */
    takeOver: enqueueActions(({ context: { link }, event, enqueue }) => {
      if (!('link' in event)) return;
      if (link !== undefined) enqueue.emit({ type: 'closeLink', link });
      enqueue.assign({ link: event.link });
    }),
    welcome: enqueueActions(({ event, enqueue }) => {
      if (event.type !== 'join') return;
      enqueue.assign({ participant: event.participant });
      enqueue.emit({ type: 'welcome', link: event.link });
    }),
    askToRejoin: enqueueActions(({ event, enqueue }) => {
      if ('link' in event) enqueue.emit({ type: 'askToRejoin', link: event.link });
    }),
    dismissDisplaced: enqueueActions(({ event, enqueue }) => {
      if ('link' in event) enqueue.emit({ type: 'dismiss', link: event.link, cause: 'displaced' });
    }),
    loseLink: assign({ link: undefined }),
    release: emit({ type: 'release' }),
    forgetParticipant: assign({ participant: undefined }),
    mediaIsDown: raise({ type: 'mediaDown' }),
    connected: emit({ type: 'connected' }),
    disconnected: emit({ type: 'disconnected' }),
    left: emit({ type: 'left' }),
    sayFarewell: enqueueActions(({ context: { link }, enqueue }) => {
      if (link !== undefined) enqueue.emit({ type: 'dismiss', link, cause: 'callOver' });
      enqueue.emit({ type: 'ignore' });
    }),
  },
});

const GONE = { guard: 'isCurrent', target: 'away', actions: 'loseLink' } as const;
/** A client that was told to join again sends `leave` first, and needs longer than one that does so unasked. */
const LEAVES = [
  { guard: and(['isCurrent', 'isToldToRejoin']), target: '.leavingToRejoin' },
  { guard: 'isCurrent', target: '.leaving' },
] as const;

export const connection = parts.createMachine({
  id: 'connection',
  context: { link: undefined, participant: undefined },
  initial: 'open',
  states: {
    open: {
      type: 'parallel',
      on: { close: { target: 'closing', actions: 'sayFarewell' } },
      states: {
        media: {
          initial: 'down',
          states: {
            down: { on: { mediaUp: { guard: 'hasMedia', target: 'up', actions: 'connected' } } },
            up: {
              on: {
                mediaDown: { target: 'down', actions: 'disconnected' },
                join: { target: 'down', actions: 'disconnected' },
              },
            },
          },
        },
        signalling: {
          initial: 'absent',
          on: {
            join: { target: '.joined', actions: ['takeOver', 'welcome'] },
            resume: [
              { guard: 'isDisplaced', actions: 'dismissDisplaced' },
              { target: '.rejoining', actions: ['takeOver', 'askToRejoin'] },
            ],
          },
          states: {
            /** No signalling and no media. */
            absent: {},
            joined: {
              on: {
                unnegotiable: { guard: 'isCurrent', target: 'rejoining', actions: 'askToRejoin' },
                gone: GONE,
              },
            },
            /** Told to join again; media that is up stays up until it does. */
            rejoining: {
              on: { unnegotiable: { guard: 'isCurrent', actions: 'askToRejoin' }, gone: GONE },
            },
            /** Without signalling, media may continue for a while. */
            away: {
              after: {
                reconnectWindow: {
                  target: 'absent',
                  actions: ['release', 'forgetParticipant', 'mediaIsDown'],
                },
              },
            },
          },
        },
        intent: {
          initial: 'staying',
          on: { leave: LEAVES },
          states: {
            staying: {},
            leaving: {
              on: { join: 'staying', resume: { guard: not('isDisplaced'), target: 'staying' } },
              after: { leaveGrace: { target: 'staying', actions: 'left' } },
            },
            leavingToRejoin: {
              on: { join: 'staying', resume: { guard: not('isDisplaced'), target: 'staying' } },
              after: { reconnectWindow: { target: 'staying', actions: 'left' } },
            },
          },
        },
      },
    },
    /** Waits for the client to close its connection itself: a client that is cut off first reports an error. */
    closing: { after: { farewell: { target: 'closed', actions: 'release' } } },
    closed: { type: 'final' },
  },
});
