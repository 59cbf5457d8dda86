/** The participants of a room, as reported to LiveKit's clients: one user, one agent. */
import {
  AudioTrackFeature,
  type AddTrackRequest,
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

/** The server version that we announce; clients derive the server's features from it. */
const SERVER_VERSION = '1.9.0';
const PROTOCOL = 16;
const { pingIntervalMs, pingTimeoutMs, goneMs } = CALL_TIMES;
/** Most tracks of a user at once; beyond it the oldest is dropped. */
const MOST_TRACKS = 8;

const MIME = 'audio/opus';
const permission = new ParticipantPermission({ canPublish: true, canSubscribe: true, canPublishData: true });
const seconds = (): bigint => BigInt(Math.floor(Date.now() / 1000));

/** The user; a new one with each join. */
export class User implements Sender {
  readonly sid = sidOf('PA');
  readonly #tracks = new Map<string, TrackInfo>();
  readonly #joinedAt = seconds();
  /** The names of tracks in the last offer. */
  #sent: ReadonlySet<string> = new Set();
  #version = 0;

  constructor(
    readonly identity: string,
    readonly name: string,
  ) {}

  /** Adds a track, which a client announces before its packets. */
  publish(request: AddTrackRequest): TrackInfo {
    const { cid, type, name, source, muted, stream } = request;
    const known = this.#tracks.get(cid);
    if (known) return known;
    const track = new TrackInfo({
      sid: sidOf('TR'),
      type,
      name,
      source,
      muted,
      stream,
      mimeType: MIME,
      disableRed: true,
    });
    const [oldest] = this.#tracks.keys();
    if (oldest !== undefined && this.#tracks.size >= MOST_TRACKS) this.#tracks.delete(oldest);
    this.#tracks.set(cid, track);
    return track;
  }

  /** Notes the tracks of an offer; a track that is no longer named has been unpublished. */
  sends(names: ReadonlySet<string>): void {
    for (const name of this.#sent) if (!names.has(name)) this.#tracks.delete(name);
    this.#sent = names;
  }

  /** The sid of the last published audio track. */
  get microphone(): string | undefined {
    return [...this.#tracks.values()].findLast(({ type }) => type === TrackType.AUDIO)?.sid;
  }

  mute(sid: string, muted: boolean): void {
    for (const track of this.#tracks.values()) if (track.sid === sid) track.muted = muted;
  }

  info(state: ParticipantInfo_State): ParticipantInfo {
    const { sid, identity, name } = this;
    return new ParticipantInfo({
      sid,
      identity,
      name,
      state,
      version: ++this.#version,
      joinedAt: this.#joinedAt,
      tracks: [...this.#tracks.values()],
      isPublisher: this.#tracks.size > 0,
      permission,
    });
  }
}

/** The agent, the same for the whole call. */
export class Agent implements Sender {
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

export interface Welcome {
  readonly args: CallArgs;
  readonly roomSid: string;
  readonly user: User;
  readonly agent: Agent;
  readonly version: 1 | 0;
  readonly iceServers: JoinResponse['iceServers'];
}

/** The first message to a client. */
export const joinResponse = ({ args, roomSid, user, agent, version, iceServers }: Welcome): JoinResponse =>
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
