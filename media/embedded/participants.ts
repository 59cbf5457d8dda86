/** The participants of a room, as reported to LiveKit's clients: one user, one agent. */
import {
  AudioTrackFeature,
  Codec,
  JoinResponse,
  ParticipantInfo,
  ParticipantInfo_Kind,
  ParticipantInfo_State,
  ParticipantPermission,
  Room as RoomInfo,
  ServerInfo,
  ServerInfo_Edition,
  TrackInfo,
  TrackSource,
  TrackType,
} from '@livekit/protocol';
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import type { CallArgs } from '../wire.js';
import { type Sender, sidOf } from './data.js';
import { MIME, UserTracks } from './user-tracks.js';

/** The server version that we announce; clients derive the server's features from it. */
const SERVER_VERSION = '1.9.0';
const PROTOCOL = 16;
const { pingIntervalMs, pingTimeoutMs, goneMs } = CALL_TIMES;
const permission = new ParticipantPermission({ canPublish: true, canSubscribe: true, canPublishData: true });
const seconds = (): bigint => BigInt(Math.floor(Date.now() / 1000));

/** The user; a new one with each join. */
export class UserParticipant implements Sender {
  readonly sid = sidOf('PA');
  readonly tracks: UserTracks;
  readonly #joinedAt = seconds();
  #version = 0;

  /** `now`: monotonic, in milliseconds. */
  constructor(
    readonly identity: string,
    readonly name: string,
    now: () => number,
  ) {
    this.tracks = new UserTracks(now);
  }

  info(state: ParticipantInfo_State): ParticipantInfo {
    const { sid, identity, name } = this;
    const tracks = this.tracks.infos;
    return new ParticipantInfo({
      sid,
      identity,
      name,
      state,
      version: ++this.#version,
      joinedAt: this.#joinedAt,
      tracks,
      isPublisher: tracks.length > 0,
      permission,
    });
  }
}

/** The agent, the same for the whole call. */
export class AgentParticipant implements Sender {
  readonly sid = sidOf('PA');
  readonly trackSid = sidOf('TR');
  readonly #joinedAt = seconds();
  #attributes: Record<string, string> = {};
  #version = 0;

  constructor(
    readonly identity: string,
    readonly name: string,
  ) {}

  set attributes(values: Readonly<Record<string, string>>) {
    this.#attributes = { ...this.#attributes, ...values };
  }

  /** The stream id of its track. */
  get streamId(): string {
    return `${this.sid}|${this.trackSid}`;
  }

  info(): ParticipantInfo {
    const { sid, identity, name } = this;
    const track = new TrackInfo({
      sid: this.trackSid,
      type: TrackType.AUDIO,
      name: 'agent',
      source: TrackSource.MICROPHONE,
      mimeType: MIME,
      stream: 'agent',
      audioFeatures: [AudioTrackFeature.TF_NO_DTX],
    });
    return new ParticipantInfo({
      sid,
      identity,
      name,
      kind: ParticipantInfo_Kind.AGENT,
      state: ParticipantInfo_State.ACTIVE,
      version: ++this.#version,
      joinedAt: this.#joinedAt,
      attributes: this.#attributes,
      isPublisher: true,
      permission,
      tracks: [track],
    });
  }
}

export interface JoinResponseParts {
  readonly args: CallArgs;
  readonly roomSid: string;
  readonly user: UserParticipant;
  readonly agent: AgentParticipant;
  readonly version: 1 | 0;
  readonly iceServers: JoinResponse['iceServers'];
}

/** The first message to a client. */
export const joinResponse = ({
  args,
  roomSid,
  user,
  agent,
  version,
  iceServers,
}: JoinResponseParts): JoinResponse =>
  new JoinResponse({
    room: new RoomInfo({
      sid: roomSid,
      name: args.sessionId,
      departureTimeout: goneMs / 1000,
      creationTime: seconds(),
      numParticipants: 2,
      numPublishers: 1,
      enabledCodecs: [new Codec({ mime: MIME })],
    }),
    participant: user.info(ParticipantInfo_State.JOINED),
    otherParticipants: [agent.info()],
    serverVersion: SERVER_VERSION,
    serverInfo: new ServerInfo({
      edition: ServerInfo_Edition.Standard,
      version: SERVER_VERSION,
      protocol: PROTOCOL,
      nodeId: 'embedded',
    }),
    iceServers,
    subscriberPrimary: version === 0,
    pingTimeout: pingTimeoutMs / 1000,
    pingInterval: pingIntervalMs / 1000,
    enabledPublishCodecs: [new Codec({ mime: MIME })],
  });
