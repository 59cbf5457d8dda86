/**
 * One client's connection to a call (docs/contract/transport.md): its signalling, its media, and whether it means to
 * leave. A call outlives connections: a client that drops joins anew, over another signalling connection (a `link`, by
 * its number), and is another participant then. While it joins it is `joined` with its media `down`; when it is up, both.
 *
 * Invariants:
 * - one link at a time, a later one takes over; what an earlier one still says changes nothing;
 * - `connected` and `disconnected` alternate, beginning with `connected`;
 * - a `leave` is a hang-up (`left`) only where no link joins within its time;
 * - each `welcome` is followed by one `release`, or by another `welcome`, which takes its place;
 * - after `close` nothing is told but the farewell and one `release`, the last effect.
 */
import { and, assign, emit, enqueueActions, not, raise, setup, stateIn } from 'xstate';
import { CALL_TIMES } from '../contracts/call-times.js';

interface OfLink {
  readonly link: number;
}

export type ConnectionEvent =
  /** A client joins, as that participant. */
  | ({ readonly type: 'join'; readonly participant: string } & OfLink)
  /** It wants to go on as the participant that it was. Transports cannot be restarted here, so it has to join anew. */
  | ({ readonly type: 'resume'; readonly participant: string } & OfLink)
  /** Its offer cannot be negotiated with its present media. */
  | ({ readonly type: 'unnegotiable' } & OfLink)
  /** It says that it leaves: to hang up, or to join anew. */
  | ({ readonly type: 'leave' } & OfLink)
  /** Its signalling has gone. */
  | ({ readonly type: 'gone' } & OfLink)
  | { readonly type: 'mediaUp' }
  | { readonly type: 'mediaDown' }
  /** The call is over. */
  | { readonly type: 'close' };

export type ConnectionEffect =
  /** Open media for it, in place of any that is open, and tell it who is there. */
  | ({ readonly type: 'welcome' } & OfLink)
  /** Tell it to join anew. */
  | ({ readonly type: 'askToRejoin' } & OfLink)
  /** Close its signalling: a later one has taken over. */
  | ({ readonly type: 'closeLink' } & OfLink)
  /** Tell it to go and not to come back: its place is taken, or the call is over. */
  | ({ readonly type: 'dismiss'; readonly cause: 'displaced' | 'callOver' } & OfLink)
  /** The call is over: whatever its media still brings is not listened to. */
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
    /** Somebody else has taken its place, and keeps it: each would displace the other for ever. */
    isDisplaced: ({ context, event }) =>
      event.type === 'resume' && (context.participant ?? event.participant) !== event.participant,
    isToldToRejoin: stateIn({ open: { signalling: 'rejoining' } }),
  },
  actions: {
    /** The link of the event is the client's from now on. */
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
/** A client that was told to join anew says `leave` first, and needs longer than one that does it unasked. */
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
            /** Told to join anew; media that is up stays up until then. */
            rejoining: {
              on: { unnegotiable: { guard: 'isCurrent', actions: 'askToRejoin' }, gone: GONE },
            },
            /** Media may go on without signalling for a while. */
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
    /** A client that is told to leave closes its connection itself: one that finds it cut off first reports an error. */
    closing: { after: { farewell: { target: 'closed', actions: 'release' } } },
    closed: { type: 'final' },
  },
});
