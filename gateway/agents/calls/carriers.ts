/**
 * What carries a call: the six kinds side by side, as data (`CARRIERS`), and as what a call asks its carrier for (`Carrier`). The carriers
 * are made in embedded.ts (also that of tests by voice), livekit.ts, socket-calls.ts, chat-calls.ts and ../phone/phone-calls.ts.
 */
import type { EndedReason, SessionRecord, SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import type { ClosedBy } from '../conversations/closing.js';
import type { PhoneLine } from '../conversations/tools/tool.js';

/** How a session goes on without its call: `kept` by whoever ends the call, or `released`, so that another process can take it over. */
export type GoesOn = 'kept' | 'released';

interface CarrierKind {
  /** As the log names it. */
  readonly transport: 'embedded' | 'livekit' | 'phone' | 'realtime' | 'chat';
  /** False: nobody waits for what is said, so speech engines treat it as batch work. */
  readonly isLive: boolean;
  /** Causes that end a call and not its session; `released_if_settled`: if its user has been connected for some time (first-connection.ts). */
  readonly goesOn: Readonly<Partial<Record<ClosedBy, GoesOn | 'released_if_settled'>>>;
}

const EMBEDDED = {
  transport: 'embedded',
  isLive: true,
  // A dying worker takes the media with it, not the conversation: the process that the client reaches next continues it.
  goesOn: { unclaimed: 'kept', lost: 'kept', mediaLoss: 'released_if_settled' },
} as const satisfies CarrierKind;

export const CARRIERS = {
  /** WebRTC to a media worker of ours. */
  embedded: EMBEDDED,
  /** A room of a LiveKit cluster. */
  livekit: {
    transport: 'livekit',
    isLive: true,
    // The first process that looks for lost calls continues it; one that gets the room's job waits for a user who has not come.
    goesOn: { lost: 'kept', mediaLoss: 'released_if_settled', unclaimed: 'released' },
  },
  /** A telephone provider's media stream. */
  phone: {
    transport: 'phone',
    isLive: true,
    // While the caller is connected to somebody else, the agent's part has ended.
    goesOn: { lost: 'kept', connecting: 'released' },
  },
  /** One WebSocket of a realtime client. */
  socket: {
    transport: 'realtime',
    isLive: true,
    goesOn: { lost: 'kept' },
  },
  /** One message of a chat, and its answer. */
  chat: {
    transport: 'chat',
    isLive: true,
    // Whichever process gets the next message continues it.
    goesOn: { lost: 'kept', parked: 'released', shutdown: 'released' },
  },
  /** A test by voice: a simulated caller, at a media worker. */
  test: { ...EMBEDDED, isLive: false },
} as const satisfies Readonly<Record<string, CarrierKind>>;

export type CarrierName = keyof typeof CARRIERS;

/** What a call asks its carrier for. */
export interface Carrier {
  readonly name: CarrierName;
  /** Actions towards the other side of a telephone call; none elsewhere. */
  readonly line: PhoneLine;
  /** Whether its user was connected long enough for the call to go on elsewhere. */
  isSettled(): boolean;
  /** Makes the session active, as its user is connected; false if it has ended meanwhile. Errors: `concurrency_exceeded`. */
  activate(): Promise<boolean>;
  /** The user is connected for the first time. */
  connected(): void;
  /** The call is about to be closed from outside. */
  closing(cause: ClosedBy): void;
  /** Releases the session, which goes on without the call. */
  release(): Promise<void>;
  /** The reason for which the session ends, if the carrier knows better than the conversation. */
  endedFor(reason: EndedReason): Promise<EndedReason>;
}

/** Whether, and how, a session goes on if its call is closed by that cause; undefined: it ends. */
export function goesOn(
  carrier: Pick<Carrier, 'name' | 'isSettled'>,
  cause: ClosedBy | undefined,
): GoesOn | undefined {
  const { goesOn: causes }: CarrierKind = CARRIERS[carrier.name];
  const how = cause && causes[cause];
  if (how === 'released_if_settled') return carrier.isSettled() ? 'released' : undefined;
  return how;
}

type Runs = Pick<SessionRuns, 'activate' | 'isOwner' | 'release'>;

/** What most carriers do. */
export const carrying = (
  name: CarrierName,
  { id, status }: Pick<SessionRecord, 'id' | 'status'>,
  runs: Runs,
): Carrier => ({
  name,
  line: {},
  isSettled: () => false,
  // One that was taken over is active already.
  activate: () => (status === 'active' ? runs.isOwner(id) : runs.activate(id)),
  connected: () => undefined,
  closing: () => undefined,
  release: () => runs.release(id),
  endedFor: (reason) => Promise.resolve(reason),
});
