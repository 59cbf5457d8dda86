/**
 * A caller in a room of a LiveKit server, as LiveKit's clients join it: the caller offers a connection for its microphone, the
 * server another one for what can be heard.
 */
import {
  AddTrackRequest,
  type ParticipantInfo,
  SessionDescription,
  SignalTarget,
  TrackSource,
  TrackType,
  type TrickleRequest,
} from '@livekit/protocol';
import { Audio, type DataChannel, PeerConnection, type Track } from 'node-datachannel';
import type { Invite } from '../servers/agents.js';
import {
  closeQuietly,
  type Connection,
  type ConnectionHandlers,
  OPUS,
  sendQuietly,
  SSRC,
} from './connection.js';
import { addressWithoutOffer, Signalling, type Told } from './signalling.js';
import { waitFor } from './timing.js';

/** An agent may be a process that starts when its caller comes. */
const JOIN_MS = 60_000;

/** The microphone, in the description and in the request for it. */
const TRACK = 'microphone';
/** The attribute of an agent that tells what it does, and what it tells once it listens. */
const [STATE, LISTENS] = ['lk.agent.state', 'listening'];

const HEADER = 12;
/** Bits of the first byte of an RTP packet. */
const [PADDED, EXTENDED, SOURCES] = [0x20, 0x10, 0x0f];

/** The packet without its extensions and padding (RFC 3550, 5.1); undefined where nothing is left. */
export function plainRtp(packet: Buffer): Buffer | undefined {
  if (packet.length <= HEADER) return undefined;
  const first = packet[0] ?? 0;
  let from = HEADER + 4 * (first & SOURCES);
  if (first & EXTENDED) from += 4 + 4 * packet.readUInt16BE(from + 2);
  const to = packet.length - (first & PADDED ? (packet.at(-1) ?? 0) : 0);
  if (to <= from) return undefined;
  const plain = Buffer.concat([packet.subarray(0, HEADER), packet.subarray(from, to)]);
  plain[0] = first & ~(PADDED | EXTENDED | SOURCES);
  return plain;
}

/** The description without redundant audio (RFC 2198), which the caller does not take apart. */
function withoutRed(sdp: string): string {
  const type = /^a=rtpmap:(\d+) red\//m.exec(sdp)?.[1];
  if (type === undefined) return sdp;
  const lines = new RegExp(`^a=(?:rtpmap|fmtp|rtcp-fb):${type} .*\r\n`, 'gm');
  return sdp.replace(lines, '').replace(new RegExp(`^(m=audio .*) ${type}\\b`, 'gm'), '$1');
}

/** One direction: what is described and named of it goes to the server, and the other way round. */
class Direction {
  readonly connection: PeerConnection;
  /** Addresses of the server that came before its description. */
  #early: string[] = [];

  constructor(name: string, described: (sdp: string) => void, found: (candidate: string) => void) {
    // The server offers a channel for data first, and its voices when there are any.
    this.connection = new PeerConnection(name, { iceServers: [], forceMediaTransport: true });
    this.connection.onLocalDescription(described);
    this.connection.onLocalCandidate((line) => found(line.replace(/^a=/, '')));
  }

  accept({ sdp, type }: SessionDescription): void {
    this.connection.setRemoteDescription(withoutRed(sdp), type as 'answer' | 'offer');
    for (const candidate of this.#early.splice(0)) this.#add(candidate);
  }

  reach({ candidateInit }: TrickleRequest): void {
    const { candidate } = JSON.parse(candidateInit) as { readonly candidate?: string };
    if (!candidate) return;
    if (this.connection.remoteDescription() === null) this.#early.push(candidate);
    else this.#add(candidate);
  }

  #add(candidate: string): void {
    this.connection.addRemoteCandidate(candidate, '0');
  }
}

export class RoomConnection implements Connection {
  #signalling: Signalling | undefined;
  readonly #out = new Direction(
    'microphone',
    (sdp) => this.#describe('offer', sdp),
    (candidate) => this.#signalling?.trickle(candidate, SignalTarget.PUBLISHER),
  );
  readonly #in = new Direction(
    'ear',
    (sdp) => this.#describe('answer', sdp),
    (candidate) => this.#signalling?.trickle(candidate, SignalTarget.SUBSCRIBER),
  );
  #microphone: Track | undefined;
  // Kept: the library forgets tracks and channels that nobody holds.
  readonly #heard: (Track | DataChannel)[] = [];
  #agentListens = false;
  /** It has a track. */
  #agentSpeaks = false;

  constructor(handlers: ConnectionHandlers) {
    this.#in.connection.onTrack((track) => {
      this.#heard.push(track);
      this.#agentSpeaks = true;
      track.onMessage((packet) => {
        const plain = plainRtp(packet);
        if (plain) handlers.hear(plain);
      });
    });
    this.#in.connection.onDataChannel((channel) => {
      this.#heard.push(channel);
      channel.onMessage((message) => handlers.receive(message as Buffer));
    });
  }

  async join(invite: Invite): Promise<void> {
    this.#signalling = new Signalling(addressWithoutOffer(invite), (message) => this.#told(message));
    await this.#signalling.opened;
    const isReady = (): boolean =>
      this.#agentListens && this.#agentSpeaks && this.#microphone?.isOpen() === true;
    if (!(await waitFor(isReady, JOIN_MS))) throw new Error('not connected in time');
  }

  #told(message: Told): void {
    if (message.case === 'join') this.#publish(message.value.otherParticipants);
    if (message.case === 'update') this.#note(message.value.participants);
    if (message.case === 'trackPublished') this.#offer();
    if (message.case === 'answer') this.#out.accept(message.value);
    if (message.case === 'offer') this.#in.accept(message.value);
    if (message.case !== 'trickle') return;
    (message.value.target === SignalTarget.PUBLISHER ? this.#out : this.#in).reach(message.value);
  }

  #note(participants: readonly ParticipantInfo[]): void {
    if (participants.some(({ attributes }) => attributes[STATE] === LISTENS)) this.#agentListens = true;
  }

  #publish(others: readonly ParticipantInfo[]): void {
    this.#note(others);
    const track = { cid: TRACK, name: TRACK, type: TrackType.AUDIO, source: TrackSource.MICROPHONE };
    this.#signalling?.say({ case: 'addTrack', value: new AddTrackRequest({ ...track, disableRed: true }) });
  }

  #offer(): void {
    const speaking = new Audio('0', 'SendOnly');
    speaking.addOpusCodec(OPUS);
    speaking.addSSRC(SSRC, 'caller', 'stream', TRACK);
    this.#microphone = this.#out.connection.addTrack(speaking);
    this.#out.connection.setLocalDescription('offer');
  }

  #describe(type: 'offer' | 'answer', sdp: string): void {
    this.#signalling?.say({ case: type, value: new SessionDescription({ type, sdp }) });
  }

  speak(packet: Buffer): void {
    if (this.#microphone) sendQuietly(this.#microphone, packet);
  }

  leave(): void {
    this.#signalling?.leave();
    for (const part of [...this.#heard, this.#out.connection, this.#in.connection]) closeQuietly(part);
  }
}
