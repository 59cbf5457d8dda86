/**
 * One call as LiveKit's clients see it: a room with one user and one agent (transport.md "Embedded mode"). It outlives
 * its connections: a client that drops joins anew, and finds the same agent. ICE cannot be restarted here, so none
 * takes its connection up again.
 *
 * Invariants: one client connection at a time, a later one takes over; `connected` and `disconnected` alternate;
 * frames that cannot be read are left out; after `close` nothing is reported.
 */
import {
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
import { Parting } from '../parting.js';
import type { CallArgs, Report, SignalCommand, SignalReport } from '../wire.js';
import { readPacket, refusalOfCall, RELIABLE, sidOf } from './data.js';
import { sentTracks } from './directions.js';
import { Messages } from './messages.js';
import { Agent, joinResponse, User } from './participants.js';
import { type MediaNetwork, Peer } from './peer.js';
import { OPUS_TYPE } from './rtp.js';
import { isBounded, offeredOpusType } from './sdp.js';
import { type Incoming, type Joining, joiningOf, type Outgoing, readSignal, writeSignal } from './signal.js';

export interface RoomEvents {
  report(report: Report | SignalReport): void;
  /** A packet of the microphone. */
  packet(bytes: Buffer, type: number): void;
  /** The client has another connection: its microphone begins anew, and Opus is named so. */
  renewed(opusType: number): void;
}

export interface RoomNetwork extends MediaNetwork {
  /** For the clients: STUN and TURN. */
  readonly clientIceServers: readonly {
    readonly urls: readonly string[];
    readonly username?: string;
    readonly credential?: string;
  }[];
}

/** Of one message of a client, and of its topic's name. */
const MOST_MESSAGE_BYTES = 64 * 1024;
const MOST_TOPIC = 128;
/** A signalling connection that is gone while media goes on: the client comes back, or has gone. */
const RETURN_MS = 15_000;
/** A client that is told to leave closes its connection itself: one that finds it cut off first reports an error. */
const FAREWELL_MS = 3000;

/** The peers of one client. With one connection (`version` 1) the publisher is both. */
interface Connection {
  readonly version: 1 | 0;
  readonly publisher: Peer;
  readonly subscriber: Peer | undefined;
  readonly user: User;
  /** To offer a line on which it listens. */
  asked: boolean;
}

const leave = (action: LeaveRequest_Action, reason: DisconnectReason): Outgoing => ({
  case: 'leave',
  value: new LeaveRequest({ action, reason, canReconnect: action !== LeaveRequest_Action.DISCONNECT }),
});

function closePeers({ publisher, subscriber }: Connection): void {
  publisher.close();
  subscriber?.close();
}

type On<Case extends Incoming['case']> = Extract<Incoming, { readonly case: Case }>;
type Handlers = { readonly [Case in NonNullable<Incoming['case']>]?: (message: On<Case>) => void };

export class Room {
  readonly agent: Agent;
  readonly #sid = sidOf('RM');
  readonly #messages: Messages;
  readonly #ssrc = 1 + Math.floor(Math.random() * 0xfffffffe);
  #connection: Connection | undefined;
  #link: number | undefined;
  /** The link that was told to join anew. */
  #rejoining: number | undefined;
  #asText = false;
  #connected = false;
  #closed = false;
  #stopWaiting = (): void => undefined;
  readonly #parting = new Parting(() => this.#report({ on: 'left' }));

  constructor(
    private readonly args: CallArgs,
    private readonly network: RoomNetwork,
    private readonly events: RoomEvents,
  ) {
    this.agent = new Agent(args.agent.identity, args.agent.name);
    const { agent } = this;
    const user = (): User => this.#connection?.user ?? new User(args.user.identity, args.user.name);
    this.#messages = new Messages({ agent, user }, (packet) => this.#sendPacket(packet));
  }

  get ssrc(): number {
    return this.#ssrc;
  }

  get messages(): Messages {
    return this.#messages;
  }

  /** The agent's voice. */
  speak(packet: Buffer): void {
    (this.#connection?.subscriber ?? this.#connection?.publisher)?.sendPacket(packet);
  }

  connect({ link, version, query, token }: Extract<SignalCommand, { readonly op: 'connect' }>): void {
    let joining: Joining;
    try {
      joining = joiningOf(version, new URLSearchParams(query));
    } catch {
      return this.#dismiss(link, DisconnectReason.JOIN_FAILURE);
    }
    const { resume } = joining;
    // Somebody else has taken its place, and keeps it: each would displace the other for ever.
    if (resume !== undefined && resume !== (this.#connection?.user.sid ?? resume))
      return this.#dismiss(link, DisconnectReason.STATE_MISMATCH);
    this.#stopWaiting();
    this.#parting.isOver();
    if (this.#link !== undefined) this.#report({ on: 'close', link: this.#link });
    this.#link = link;
    this.#asText = false;
    if (resume === undefined) this.#join(version, joining, token);
    // A client that resumes restarts ICE next, and loses its patience where that fails.
    else this.#askToRejoin();
  }

  #dismiss(link: number, reason: DisconnectReason): void {
    const asText = link === this.#link && this.#asText;
    const frame = writeSignal(leave(LeaveRequest_Action.DISCONNECT, reason), asText);
    this.#report({ on: 'signal', link, frame });
    this.#report({ on: 'close', link });
  }

  #join(version: 1 | 0, { offer, tracks }: Joining, token: string): void {
    this.#drop();
    const user = new User(this.args.user.identity, this.args.user.name);
    const publisher = this.#peer(SignalTarget.PUBLISHER, version === 1);
    const subscriber = version === 0 ? this.#peer(SignalTarget.SUBSCRIBER, true) : undefined;
    this.#connection = { version, publisher, subscriber, user, asked: false };
    this.#messages.renew();
    const iceServers = this.network.clientIceServers.map(
      ({ urls, ...rest }) => new ICEServer({ urls: [...urls], ...rest }),
    );
    const { args, agent } = this;
    this.#send({
      case: 'join',
      value: joinResponse({ args, roomSid: this.#sid, user, agent, version, iceServers }),
    });
    this.#send({ case: 'refreshToken', value: token });
    // With one connection it is the client's offer that names Opus: here, or later by signalling.
    if (version === 0) this.events.renewed(OPUS_TYPE);
    else if (offer) this.#answer(offer.sdp, offer.id);
    for (const track of tracks) this.#publish(track);
    if (subscriber) this.#describe('offer', subscriber.offer(this.#track, OPUS_TYPE), 1);
  }

  #peer(target: SignalTarget, primary: boolean): Peer {
    const mine = (event: () => void) => (): void => {
      if (this.#connection?.publisher === peer || this.#connection?.subscriber === peer) event();
    };
    const peer: Peer = new Peer(sidOf('PA'), this.network, {
      candidate: (candidate, sdpMid) => mine(() => this.#trickle(candidate, sdpMid, target))(),
      state: (state) => mine(() => primary && this.#media(state === 'connected'))(),
      channelOpen: (label) => mine(() => label === RELIABLE && this.#messages.flush())(),
      message: (_label, bytes) => mine(() => this.#receive(bytes))(),
      packet: (bytes, type) => mine(() => this.events.packet(bytes, type))(),
    });
    return peer;
  }

  #trickle(candidate: string, sdpMid: string, target: SignalTarget): void {
    const candidateInit = JSON.stringify({ candidate, sdpMid, sdpMLineIndex: 0 });
    this.#send({ case: 'trickle', value: new TrickleRequest({ candidateInit, target }) });
  }

  #media(connected: boolean): void {
    if (connected) this.#update();
    if (connected === this.#connected) return;
    this.#connected = connected;
    this.#report({ on: connected ? 'connected' : 'disconnected' });
  }

  #update(): void {
    const { user } = this.#connection ?? {};
    const participants = [...(user ? [user.info(ParticipantInfo_State.ACTIVE)] : []), this.agent.info()];
    this.#send({ case: 'update', value: new ParticipantUpdate({ participants }) });
  }

  /** Attributes of the agent. */
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
    (this.#handlers[message.case] as ((message: Incoming) => void) | undefined)?.(message);
  }

  readonly #handlers: Handlers = {
    offer: ({ value }) => this.#answer(value.sdp, value.id),
    answer: ({ value }) => this.#guarded(() => this.#connection?.subscriber?.accept(value.sdp)),
    trickle: ({ value }) => this.#candidate(value.candidateInit, value.target),
    addTrack: ({ value }) => this.#publish(value),
    mute: ({ value }) => this.#connection?.user.mute(value.sid, value.muted),
    ping: () => this.#send({ case: 'pong', value: BigInt(Date.now()) }),
    pingReq: ({ value }) => {
      const timestamp = BigInt(Date.now());
      this.#send({ case: 'pongResp', value: new Pong({ lastPingTimestamp: value.timestamp, timestamp }) });
    },
    updateMetadata: ({ value: { requestId } }) => {
      const value = new RequestResponse({ requestId, reason: RequestResponse_Reason.NOT_ALLOWED });
      this.#send({ case: 'requestResponse', value });
    },
    leave: () => this.#parting.begins(this.#link === this.#rejoining ? RETURN_MS : undefined),
  };

  #answer(sdp: string, id: number): void {
    const connection = this.#connection;
    if (!connection || !isBounded(sdp)) return;
    const { publisher, user, version } = connection;
    if (publisher.leavesUsBehind(sdp)) return this.#askToRejoin();
    const opusType = offeredOpusType(sdp);
    if (version === 1 && publisher.opusType === undefined && opusType !== undefined)
      this.events.renewed(opusType);
    user.sends(sentTracks(sdp));
    this.#guarded(() => {
      const answer = publisher.answer(sdp, version === 1 ? this.#track : undefined);
      this.#describe('answer', answer.sdp, id, answer.agentMid);
      if (version === 1 && answer.agentMid === undefined) this.#askToListen(connection);
    });
  }

  /** A client that has offered no line to listen on (React Native) adds one when it is asked, once. */
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

  #askToRejoin(): void {
    this.#rejoining = this.#link;
    this.#send(leave(LeaveRequest_Action.RECONNECT, DisconnectReason.STATE_MISMATCH));
  }

  /** A description that the library does not take: the client may try again from the beginning. */
  #guarded(negotiate: () => void): void {
    try {
      negotiate();
    } catch {
      this.#askToRejoin();
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
      // Not JSON: left out.
    }
  }

  #publish(request: Parameters<User['publish']>[0]): void {
    const { user } = this.#connection ?? {};
    if (!user) return;
    const track = user.publish(request);
    this.#send({ case: 'trackPublished', value: new TrackPublishedResponse({ cid: request.cid, track }) });
    // The agent listens at once.
    this.#send({ case: 'trackSubscribed', value: new TrackSubscribed({ trackSid: track.sid }) });
  }

  #receive(bytes: Uint8Array): void {
    const { value, destinationIdentities: to } = readPacket(bytes) ?? {};
    if (value?.case === 'user') {
      const { topic = '', payload } = value.value;
      const fits = payload.length <= MOST_MESSAGE_BYTES && topic.length <= MOST_TOPIC;
      if (fits) this.#report({ on: 'data', topic, payload });
    }
    const toAgent = to?.length === 0 || to?.includes(this.agent.identity);
    if (value?.case === 'rpcRequest' && toAgent) this.#messages.answer(refusalOfCall(value.value.id));
  }

  #sendPacket(packet: Uint8Array): boolean {
    const { publisher, subscriber } = this.#connection ?? {};
    return (subscriber ?? publisher)?.sendMessage(RELIABLE, packet) ?? false;
  }

  /** The signalling connection is gone; the media may go on without it for a while. */
  gone(link: number): void {
    if (link !== this.#link) return;
    this.#link = undefined;
    const timer = setTimeout(() => this.#drop(), RETURN_MS);
    this.#stopWaiting = () => clearTimeout(timer);
  }

  #drop(close = closePeers): void {
    const dropped = this.#connection;
    this.#connection = undefined;
    if (!dropped) return;
    close(dropped);
    this.#media(false);
  }

  #send(message: Outgoing): void {
    if (this.#link === undefined) return;
    this.#report({ on: 'signal', link: this.#link, frame: writeSignal(message, this.#asText) });
  }

  #report(report: Report | SignalReport): void {
    if (!this.#closed) this.events.report(report);
  }

  /** Tells the client that the call is over. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#stopWaiting();
    this.#parting.isOver();
    if (this.#link !== undefined) this.#dismiss(this.#link, DisconnectReason.ROOM_CLOSED);
    this.#link = undefined;
    this.#closed = true;
    this.#drop((peers) => setTimeout(() => closePeers(peers), FAREWELL_MS));
  }
}
