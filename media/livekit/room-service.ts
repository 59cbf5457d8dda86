/**
 * Rooms of a LiveKit server or cluster, created and removed over its room service (docs/contract/transport.md "Livekit mode"), and
 * the tokens with which agents join. A room is named after its session, and admits one user; agents are not counted.
 */
import type { RoomServiceClient } from 'livekit-server-sdk';
import { ServiceError } from '../../contracts/errors.js';
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import type { JoinClaims } from '../../contracts/ports/calls/join-tokens.js';
import { type Ask, asked, askingNobody } from '../../contracts/ports/parts.js';
import type { CallOptions } from '../../contracts/ports/calls/calls.js';
import { roomToken, type ServerKey, serverToken } from './tokens.js';

export interface LivekitServer extends ServerKey {
  /** `wss://…`, for agents and the room service alike. */
  readonly url: string;
}

export interface RoomService {
  /** Resolves if the server answers and knows our key. Errors: `transport_failed`. */
  tryKey(): Promise<undefined>;
  /** Creates the room, which waits for its user until `joinBy`. Errors: `transport_failed`. */
  create(sessionId: string, joinBy: Date): Promise<void>;
  /** Asks for an agent in that room. Errors: `transport_failed`. */
  dispatch(sessionId: string, agentName: string, metadata: string): Promise<void>;
  /** Gives the user's client a new token to return with. Errors: `transport_failed`. */
  rotate(sessionId: string, identity: string): Promise<void>;
  /** Removes a participant that joined with the first token; a user who is back with another one stays. Errors: `transport_failed`. */
  putOut(sessionId: string, identity: string): Promise<void>;
  /**
   * Whether the user is in the room with media, as another participant than `sid`, and did not come with the session's first token,
   * which may be somebody else. Errors: `transport_failed`.
   */
  isBack(sessionId: string, identity: string, sid: string): Promise<boolean>;
  /** Removes the room and everybody in it; a missing room is fine. Errors: `transport_failed`. */
  remove(room: string): Promise<void>;
  /** Makes the token with which an agent joins that room. */
  agentToken(room: string, agent: CallOptions['agent']): Promise<string>;
}

const REQUEST_SECONDS = 5;
const MOST_USERS = 1;
/** Sessions' rooms have other names: the list of it is short on a server with many rooms. */
const NO_ROOM = '-';
/** Longer than any conversation; the server gives fresh tokens to connected participants. */
const AGENT_HOURS = 24;
const NOT_FOUND = 404;

/** Loaded with the first session, as it costs 20 MB. */
const livekit = () => import('livekit-server-sdk');

const failed = (cause: unknown): ServiceError => new ServiceError('transport_failed', { cause });

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** What asks about all rooms, or about that one. */
type Client = (room?: string) => Promise<RoomServiceClient>;

const unlessGone = (error: unknown): undefined => {
  if ((error as { status?: unknown }).status !== NOT_FOUND) throw error;
};

/** Waits for the server's answer, and tells what came of it. Errors: `transport_failed`. */
interface Awaiting {
  orFailed(answer: Promise<unknown>): Promise<void>;
  /** A 404 is fine. */
  orGone(answer: Promise<unknown>): Promise<void>;
}

function awaitingAs(ask: Ask): Awaiting {
  const orFailed = (answer: Promise<unknown>): Promise<void> =>
    asked(ask(), () => answer).then(nothing, (error: unknown) => Promise.reject(failed(error)));
  return { orFailed, orGone: (answer) => orFailed(answer.catch(unlessGone)) };
}

const nothing = (): void => undefined;

/** Whether a participant came with its session's first token. */
const isFirst = ({ attributes }: { readonly attributes: Readonly<Record<string, string>> }): boolean =>
  attributes['use'] === ('join' satisfies JoinClaims['use']);

const usersIn = (
  client: Client,
  { orFailed, orGone }: Awaiting,
): Pick<RoomService, 'rotate' | 'putOut' | 'isBack'> => ({
  async rotate(name, identity) {
    const attributes = { use: 'rejoin' satisfies JoinClaims['use'] };
    await orFailed((await client(name)).updateParticipant(name, identity, { attributes }));
  },
  async isBack(name, identity, sid) {
    const { ParticipantInfo_State: state } = await livekit();
    let isBack = false;
    const asked = (await client(name)).getParticipant(name, identity);
    await orGone(
      asked.then((user) => {
        isBack = user.state === state.ACTIVE && user.sid !== sid && !isFirst(user);
      }),
    );
    return isBack;
  },
  async putOut(name, identity) {
    const rooms = await client(name);
    await orGone(
      rooms.getParticipant(name, identity).then(async ({ attributes }) => {
        if (isFirst({ attributes })) await rooms.removeParticipant(name, identity);
      }),
    );
  },
});

/** `ask`: told what came of each request. */
export function createRoomService(server: LivekitServer, ask: Ask = askingNobody): RoomService {
  const { url, key, secret } = server;
  const awaiting = awaitingAs(ask);
  const { orFailed, orGone } = awaiting;
  const askingAbout = (room?: string) => ({
    requestTimeout: REQUEST_SECONDS,
    token: roomToken(server, room),
  });
  const client: Client = async (room) => {
    const { RoomServiceClient } = await livekit();
    return new RoomServiceClient(url, key, secret, askingAbout(room));
  };
  return {
    ...usersIn(client, awaiting),
    async tryKey() {
      const rooms = await client();
      await orFailed(rooms.listRooms([NO_ROOM]));
      return undefined;
    },
    async create(name, joinBy) {
      const rooms = await client();
      const { goneMs, connectMs } = CALL_TIMES;
      const room = {
        name,
        // We decide whether the user came in time, so the room must last a little longer.
        emptyTimeout: seconds(joinBy.getTime() - Date.now() + connectMs),
        departureTimeout: seconds(goneMs),
        maxParticipants: MOST_USERS,
      };
      await orFailed(rooms.createRoom(room));
    },
    async dispatch(name, agentName, metadata) {
      const { AgentDispatchClient } = await livekit();
      const agents = new AgentDispatchClient(url, key, secret, askingAbout(name));
      await orFailed(agents.createDispatch(name, agentName, { metadata }));
    },
    async remove(name) {
      const rooms = await client();
      await orGone(rooms.deleteRoom(name));
    },
    agentToken(room, { identity: sub, name }) {
      const video = {
        room,
        roomJoin: true,
        canPublish: true,
        canSubscribe: true,
        canPublishData: true,
        canUpdateOwnMetadata: true,
      };
      return Promise.resolve(serverToken(server, { sub, name, kind: 'agent', video }, AGENT_HOURS));
    },
  };
}
