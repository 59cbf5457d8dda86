/**
 * One call as LiveKit's clients see it: a room with one user and one agent (docs/contract/transport.md "Embedded mode").
 * actors/connection.ts decides the state of the client's connection; this is its host, which speaks the
 * protocol and holds the peers. ICE cannot be restarted here, so a client that drops rejoins, and finds the same agent.
 *
 * Invariants: unreadable frames are ignored; after `close` nothing is reported.
 */
import {
  type AddTrackRequest,
  DisconnectReason,
  ICEServer,
  LeaveRequest,
  LeaveRequest_Action,
  MediaSectionsRequirement,
  ParticipantInfo_State,
  ParticipantUpdate,
  Pong,
  RequestResponse,
  RequestResponse_Reason,
  SessionDescription,
  SignalTarget,
  TrackPublishedResponse,
  TrackSubscribed,
  TrickleRequest,
} from '@livekit/protocol';
import { connection, type ConnectionEffect, type ConnectionEvent } from '../../actors/connection.js';
import { type Effects, run, type RunningMachine } from '../../actors/run.js';
import type { Clock } from '../../contracts/clock.js';
import type { CallArgs, Report, SignalCommand, SignalReport } from '../wire.js';
import { RemoteCandidates } from './candidates.js';
import { RELIABLE, sidOf } from './data.js';
import { sentTracks, soundLines } from './directions.js';
import { Inbox } from './inbox.js';
import { Messages } from './messages.js';
import { AgentParticipant, joinResponse, UserParticipant } from './participants.js';
import { type MediaNetwork, Peer, type PeerEvents } from './peer.js';
import { OPUS_TYPE, readRtp, type RtpPacket } from './rtp.js';
import { isBounded, offeredOpusType } from './sdp.js';
import { type ClientSignal, type JoinRequestParts, joiningOf, readSignal } from './signal.js';
import { type ServerSignal, writeSignal } from './signal.js';

export interface EmbeddedRoomEvents {
  report(report: Report | SignalReport): void;
  /** A packet of the track that is the user; `track` is its name. */
  packet(packet: RtpPacket, track: string): void;
  /** The client has a new connection: its microphone stream restarts, with this payload type for Opus. */
  renewed(opusType: number): void;
  /** The call cannot continue because of an error on our side. */
  failed(error: unknown): void;
}

export interface RoomNetwork extends MediaNetwork {
  /** STUN and TURN servers for the clients. */
  readonly clientIceServers: readonly {
    readonly urls: readonly string[];
    readonly username?: string;
    readonly credential?: string;
  }[];
}

/** The peers of one client. With one connection (`version` 1) the publisher is both. */
interface Connection {
  readonly version: 1 | 0;
  readonly publisher: Peer;
  readonly subscriber: Peer | undefined;
  readonly user: UserParticipant;
  /** Whether the client was already asked for a line to receive the agent on. */
  asked: boolean;
}

/** A client that joins, until its media is open. */
interface Joiner extends JoinRequestParts {
  readonly version: 1 | 0;
  readonly user: UserParticipant;
  /** A token for the client to return with. */
  readonly token: string;
  readonly from: string;
}

const DISMISSALS = {
  displaced: DisconnectReason.STATE_MISMATCH,
  callOver: DisconnectReason.ROOM_CLOSED,
} as const;

const leave = (action: LeaveRequest_Action, reason: DisconnectReason): ServerSignal => ({
  case: 'leave',
  value: new LeaveRequest({ action, reason, canReconnect: action !== LeaveRequest_Action.DISCONNECT }),
});

function closePeers(connection: Connection | undefined): void {
  connection?.publisher.close();
  connection?.subscriber?.close();
}

type On<Case extends ClientSignal['case']> = Extract<ClientSignal, { readonly case: Case }>;
type Handlers = {
  readonly [Case in NonNullable<ClientSignal['case']>]?: (message: On<Case>, link: number) => void;
};

export class EmbeddedRoom {
  readonly agent: AgentParticipant;
  readonly #sid = sidOf('RM');
  readonly #messages: Messages;
  #inbox: Inbox;
  readonly #candidates = new RemoteCandidates(() => performance.now());
  readonly #ssrc = 1 + Math.floor(Math.random() * 0xfffffffe);
  readonly #client: RunningMachine<ConnectionEvent>;
  /** The signalling connection for frames to the client. */
  #link: number | undefined;
  #asText = false;
  #joiner: Joiner | undefined;
  #connection: Connection | undefined;
  /** Peers of a call that has ended, ignored until `release` closes them. */
  #ignored: Connection | undefined;

  constructor(
    private readonly args: CallArgs,
    private readonly network: RoomNetwork,
    private readonly events: EmbeddedRoomEvents,
    private readonly clock: Clock,
  ) {
    this.agent = new AgentParticipant(args.agent.identity, args.agent.name);
    const { agent } = this;
    const user = (): UserParticipant => this.#connection?.user ?? this.#newUser();
    this.#messages = new Messages({ agent, user }, (packet) => this.#sendPacket(packet));
    this.#inbox = this.#newInbox();
    this.#client = run(connection, undefined, clock, this.#effects, (error) => events.failed(error));
  }

  #newInbox(): Inbox {
    return new Inbox({
      agent: this.agent.identity,
      now: () => this.clock.monotonic(),
      report: (report) => this.events.report(report),
      answer: (values) => this.#messages.answer(values),
    });
  }

  #newUser(): UserParticipant {
    return new UserParticipant(this.args.user.identity, this.args.user.name, () => this.clock.monotonic());
  }

  get ssrc(): number {
    return this.#ssrc;
  }

  get messages(): Messages {
    return this.#messages;
  }

  /** Sends a packet of the agent's voice. */
  speak(packet: Buffer): void {
    (this.#connection?.subscriber ?? this.#connection?.publisher)?.sendPacket(packet);
  }

  connect(command: Extract<SignalCommand, { readonly op: 'connect' }>): void {
    const { link, version, query, token, from } = command;
    let joining: JoinRequestParts;
    try {
      joining = joiningOf(version, new URLSearchParams(query));
    } catch {
      return this.#dismiss(link, DisconnectReason.JOIN_FAILURE);
    }
    const { resume } = joining;
    if (resume !== undefined) return this.#client.send({ type: 'resume', link, participant: resume });
    const user = this.#newUser();
    this.#joiner = { ...joining, version, user, token, from };
    this.#client.send({ type: 'join', link, participant: user.sid });
  }

  readonly #effects: Effects<ConnectionEffect> = {
    welcome: ({ link }) => {
      this.#attach(link);
      this.#welcome(link);
    },
    // A client that resumes would restart ICE next, and give up when that fails.
    askToRejoin: ({ link }) => {
      if (link !== this.#link) this.#attach(link);
      this.#send(leave(LeaveRequest_Action.RECONNECT, DisconnectReason.STATE_MISMATCH));
    },
    closeLink: ({ link }) => this.events.report({ on: 'close', link }),
    dismiss: ({ link, cause }) => this.#dismiss(link, DISMISSALS[cause]),
    ignore: () => {
      this.#link = undefined;
      this.#ignored = this.#connection;
      this.#connection = undefined;
    },
    release: () => {
      closePeers(this.#connection ?? this.#ignored);
      this.#connection = this.#ignored = undefined;
    },
    connected: () => {
      this.#update();
      this.events.report({ on: 'connected' });
    },
    disconnected: () => this.events.report({ on: 'disconnected' }),
    left: () => this.events.report({ on: 'left' }),
  };

  #attach(link: number): void {
    this.#link = link;
    this.#asText = false;
  }

  #dismiss(link: number, reason: DisconnectReason): void {
    const asText = link === this.#link && this.#asText;
    const frame = writeSignal(leave(LeaveRequest_Action.DISCONNECT, reason), asText);
    this.events.report({ on: 'signal', link, frame });
    this.events.report({ on: 'close', link });
  }

  #welcome(link: number): void {
    closePeers(this.#connection);
    this.#connection = undefined;
    if (!this.#joiner) return;
    const { version, user, offer, tracks, token, from } = this.#joiner;
    this.#joiner = undefined;
    const publisher = this.#peer(SignalTarget.PUBLISHER, version === 1, from);
    const subscriber = version === 0 ? this.#peer(SignalTarget.SUBSCRIBER, true, from) : undefined;
    this.#connection = { version, publisher, subscriber, user, asked: false };
    this.#messages.renew();
    this.#inbox = this.#newInbox();
    const iceServers = this.network.clientIceServers.map(
      ({ urls, ...rest }) => new ICEServer({ urls: [...urls], ...rest }),
    );
    const { args, agent } = this;
    this.#send({
      case: 'join',
      value: joinResponse({ args, roomSid: this.#sid, user, agent, version, iceServers }),
    });
    this.#send({ case: 'refreshToken', value: token });
    // With one connection the client's offer names the type of Opus: here, or later by signalling.
    if (version === 0) this.events.renewed(OPUS_TYPE);
    else if (offer) this.#answer(offer, link);
    for (const track of tracks) this.#publish(track);
    if (subscriber) this.#describe('offer', subscriber.offer(this.#track, OPUS_TYPE), 1);
  }

  #peer(target: SignalTarget, primary: boolean, from: string): Peer {
    const mine = (event: () => void) => (): void => {
      if (this.#connection?.publisher === peer || this.#connection?.subscriber === peer) event();
    };
    const events: PeerEvents = {
      candidate: (candidate, sdpMid) => mine(() => this.#trickle(candidate, sdpMid, target))(),
      state: (state) =>
        mine(() => primary && this.#client.send({ type: state === 'connected' ? 'mediaUp' : 'mediaDown' }))(),
      channelOpen: (label) => mine(() => label === RELIABLE && this.#messages.flush())(),
      message: (_label, bytes) => mine(() => this.#inbox.receive(bytes))(),
      packet: (bytes, type, mid) => mine(() => this.#hear(bytes, type, mid))(),
    };
    const admits = this.#candidates.ofConnection(from);
    const peer: Peer = new Peer(sidOf('PA'), this.network, events, admits);
    return peer;
  }

  #hear(bytes: Buffer, type: number, mid: string): void {
    const packet = readRtp(bytes, type);
    const track = packet && this.#connection?.user.tracks.received(mid);
    if (packet && track !== undefined) this.events.packet(packet, track);
  }

  #trickle(candidate: string, sdpMid: string, target: SignalTarget): void {
    const candidateInit = JSON.stringify({ candidate, sdpMid, sdpMLineIndex: 0 });
    this.#send({ case: 'trickle', value: new TrickleRequest({ candidateInit, target }) });
  }

  #update(): void {
    const { user } = this.#connection ?? {};
    const participants = [...(user ? [user.info(ParticipantInfo_State.ACTIVE)] : []), this.agent.info()];
    this.#send({ case: 'update', value: new ParticipantUpdate({ participants }) });
  }

  /** Sets attributes of the agent. */
  attributes(values: Readonly<Record<string, string>>): void {
    this.agent.attributes = values;
    const participants = [this.agent.info()];
    this.#send({ case: 'update', value: new ParticipantUpdate({ participants }) });
  }

  signal({ link, frame }: Extract<SignalCommand, { readonly op: 'signal' }>): void {
    if (link !== this.#link) return;
    const message = readSignal(frame);
    if (!message?.case) return;
    this.#asText = typeof frame === 'string';
    (this.#handlers[message.case] as ((message: ClientSignal, link: number) => void) | undefined)?.(
      message,
      link,
    );
  }

  readonly #handlers: Handlers = {
    offer: ({ value }, link) => this.#answer(value, link),
    answer: ({ value: { sdp } }, link) => {
      if (isBounded(sdp)) this.#negotiate(link, () => this.#connection?.subscriber?.accept(sdp));
    },
    trickle: ({ value }) => this.#candidate(value.candidateInit, value.target),
    addTrack: ({ value }) => this.#publish(value),
    mute: ({ value }) => this.#connection?.user.tracks.mute(value.sid, value.muted),
    ping: () => this.#send({ case: 'pong', value: BigInt(Date.now()) }),
    pingReq: ({ value }) => {
      const timestamp = BigInt(Date.now());
      this.#send({ case: 'pongResp', value: new Pong({ lastPingTimestamp: value.timestamp, timestamp }) });
    },
    updateMetadata: ({ value: { requestId } }) => {
      const value = new RequestResponse({ requestId, reason: RequestResponse_Reason.NOT_ALLOWED });
      this.#send({ case: 'requestResponse', value });
    },
    leave: (_, link) => this.#client.send({ type: 'leave', link }),
  };

  #answer({ sdp, id }: NonNullable<JoinRequestParts['offer']>, link: number): void {
    const connection = this.#connection;
    if (!connection || !isBounded(sdp)) return;
    const { publisher, user, version } = connection;
    if (publisher.leavesUsBehind(sdp)) return this.#client.send({ type: 'unnegotiable', link });
    const opusType = offeredOpusType(sdp);
    if (version === 1 && publisher.opusType === undefined && opusType !== undefined)
      this.events.renewed(opusType);
    user.tracks.offered(sentTracks(sdp), soundLines(sdp));
    this.#negotiate(link, () => {
      const answer = publisher.answer(sdp, version === 1 ? this.#track : undefined);
      this.#describe('answer', answer.sdp, id, answer.agentMid);
      if (version === 1 && answer.agentMid === undefined) this.#askToListen(connection);
    });
  }

  /** Asks, once, a client that has offered no line to listen on (React Native) to add one. */
  #askToListen(connection: Connection): void {
    if (connection.asked) return;
    connection.asked = true;
    const value = new MediaSectionsRequirement({ numAudios: 1 });
    this.#send({ case: 'mediaSectionsRequirement', value });
  }

  get #track() {
    const { streamId, trackSid: trackId } = this.agent;
    return { ssrc: this.#ssrc, streamId, trackId };
  }

  #describe(type: 'offer' | 'answer', sdp: string, id: number, mid?: string): void {
    const midToTrackId = mid === undefined ? {} : { [mid]: this.agent.trackSid };
    this.#send({ case: type, value: new SessionDescription({ type, sdp, id, midToTrackId }) });
  }

  /** Runs a negotiation; if the library refuses the description, the client may try again from the beginning. */
  #negotiate(link: number, work: () => void): void {
    try {
      work();
    } catch {
      this.#client.send({ type: 'unnegotiable', link });
    }
  }

  #candidate(init: string, target: SignalTarget): void {
    const { publisher, subscriber } = this.#connection ?? {};
    try {
      const { candidate, sdpMid } = JSON.parse(init) as { candidate?: unknown; sdpMid?: unknown };
      const peer = target === SignalTarget.SUBSCRIBER ? subscriber : publisher;
      if (typeof candidate === 'string')
        peer?.addCandidate(candidate, typeof sdpMid === 'string' ? sdpMid : '0');
    } catch {
      // Ignored, as it is not JSON.
    }
  }

  #publish(request: AddTrackRequest): void {
    const { user } = this.#connection ?? {};
    if (!user) return;
    const track = user.tracks.announce(request);
    this.#send({ case: 'trackPublished', value: new TrackPublishedResponse({ cid: request.cid, track }) });
    // The agent subscribes at once.
    this.#send({ case: 'trackSubscribed', value: new TrackSubscribed({ trackSid: track.sid }) });
  }

  #sendPacket(packet: Uint8Array): boolean {
    const { publisher, subscriber } = this.#connection ?? {};
    return (subscriber ?? publisher)?.sendMessage(RELIABLE, packet) ?? false;
  }

  /** The signalling connection is gone. */
  gone(link: number): void {
    if (link === this.#link) this.#link = undefined;
    this.#client.send({ type: 'gone', link });
  }

  #send(message: ServerSignal): void {
    if (this.#link === undefined) return;
    this.events.report({ on: 'signal', link: this.#link, frame: writeSignal(message, this.#asText) });
  }

  /** Tells the client that the call has ended. Idempotent. */
  close(): void {
    this.#client.send({ type: 'close' });
  }
}
