/**
 * One WebRTC connection on node-datachannel, with what it must be kept from (docs/contract/transport.md "Traps"): it throws on sends
 * to what is closed and on candidates it does not like, and it cannot restart ICE.
 *
 * Invariant: after `close` no event comes any more, and nothing that is called on it throws.
 */
import {
  Audio,
  type DataChannel,
  type Direction,
  PeerConnection,
  RtcpReceivingSession,
  RtcpSrReporter,
  RtpPacketizationConfig,
  type Track,
} from 'node-datachannel';
import { agentLineOf, allOn, following, listeningMid } from './directions.js';
import { type Admits, withAdmitted } from './candidates.js';
import { OPUS_CLOCK, OPUS_TYPE } from './rtp.js';
import { offeredOpusType, trimOffer, userFragmentOf } from './sdp.js';

export interface MediaNetwork {
  /** Where UDP is bound; absent: everywhere. */
  readonly bind?: string;
  /** One port for all connections of this process. */
  readonly port: number;
  /** Announced instead of the addresses of this machine, where it stands behind a translation of addresses. */
  readonly publicAddress?: string;
  readonly iceServers: readonly string[];
}

export interface PeerEvents {
  candidate(candidate: string, mid: string): void;
  state(state: 'connected' | 'disconnected'): void;
  channelOpen(label: string): void;
  message(label: string, bytes: Uint8Array): void;
  /** An RTP packet of the user's microphone. */
  packet(bytes: Buffer, type: number): void;
}

/** How the agent's track is named, so that a client knows whose it is. */
export interface AgentTrack {
  readonly ssrc: number;
  readonly streamId: string;
  readonly trackId: string;
}

/** RTCP's canonical name of the sender, one per clock (RFC 3550, 6.5.1). */
const CNAME = 'agent';
const OPUS = 'minptime=10;useinbandfec=1';
/** Bytes that wait in a channel before more are dropped. */
const MOST_BUFFERED = 1024 * 1024;
/** Channels that a client has open at once, of any name; LiveKit's clients have two or three. More are closed. */
const MOST_CHANNELS = 32;

const CONNECTED = new Set(['connected']);
const LOST = new Set(['disconnected', 'failed', 'closed']);

/**
 * `candidate:… 1 UDP 2122 <address> <port> typ host …` with another address. The library gives it with the `a=` of a
 * description, which belongs in none of a browser's (W3C webrtc-pc, 4.8.1) and which not every client forgives.
 */
export function announced(line: string, address: string | undefined): string {
  const candidate = line.replace(/^a=/, '');
  if (address === undefined || !/ typ host/.test(candidate)) return candidate;
  const fields = candidate.split(' ');
  fields[4] = address;
  return fields.join(' ');
}

/** The library forgets a track (and a channel), and what it holds of it outside of JavaScript, only where somebody hears that it has closed. */
const forgetClosed = (track: Track): void => track.onClosed(() => undefined);

/** The library keeps the listeners of what is not closed, and with them all that they see. */
function closeQuietly(part: { close(): void }): void {
  try {
    part.close();
  } catch {
    // It has closed by itself.
  }
}

export class Peer {
  readonly #connection: PeerConnection;
  /** Those that are open, and the last of each name. */
  readonly #open = new Set<DataChannel>();
  readonly #channels = new Map<string, DataChannel>();
  #tracks: Track[] = [];
  #out: Track | undefined;
  #outMid: string | undefined;
  /** Whether the client listens on the agent's line. */
  #listens = true;
  #fragment: string | undefined;
  /** The client's payload type for Opus. */
  #type: number | undefined;
  #closed = false;

  constructor(
    name: string,
    private readonly network: MediaNetwork,
    private readonly events: PeerEvents,
    private readonly admits: Admits,
  ) {
    const { bind, port, iceServers } = network;
    this.#connection = new PeerConnection(name, {
      iceServers: [...iceServers],
      disableAutoNegotiation: true,
      // It is decided with the first description, which may be of data alone.
      forceMediaTransport: true,
      enableIceUdpMux: true,
      portRangeBegin: port,
      portRangeEnd: port,
      ...(bind !== undefined && { bindAddress: bind }),
    });
    this.#listen();
  }

  #listen(): void {
    const connection = this.#connection;
    connection.onStateChange((state) => {
      if (CONNECTED.has(state)) this.#tell(() => this.events.state('connected'));
      if (LOST.has(state)) this.#tell(() => this.events.state('disconnected'));
    });
    connection.onLocalCandidate((candidate, mid) =>
      this.#tell(() => this.events.candidate(announced(candidate, this.network.publicAddress), mid)),
    );
    connection.onDataChannel((channel) => this.#take(channel));
    connection.onTrack((track) => this.#receive(track));
  }

  #tell(event: () => void): void {
    if (!this.#closed) event();
  }

  #take(channel: DataChannel): void {
    if (this.#open.size >= MOST_CHANNELS) return closeQuietly(channel);
    const label = channel.getLabel();
    this.#open.add(channel);
    this.#channels.set(label, channel);
    channel.onClosed(() => this.#forget(channel, label));
    channel.onOpen(() => this.#tell(() => this.events.channelOpen(label)));
    if (channel.isOpen()) this.#tell(() => this.events.channelOpen(label));
    channel.onMessage((message) => {
      if (typeof message !== 'string') this.#tell(() => this.events.message(label, new Uint8Array(message)));
    });
  }

  #forget(channel: DataChannel, label: string): void {
    this.#open.delete(channel);
    if (this.#channels.get(label) === channel) this.#channels.delete(label);
  }

  #receive(track: Track): void {
    if (this.#tracks.includes(track)) return;
    forgetClosed(track);
    this.#tracks.push(track);
    track.setMediaHandler(new RtcpReceivingSession());
    this.#listenTo(track);
  }

  #listenTo(track: Track): void {
    track.onMessage((bytes) => this.#tell(() => this.events.packet(bytes, this.#type ?? OPUS_TYPE)));
  }

  /** The client's payload type for Opus, once it has offered any. */
  get opusType(): number | undefined {
    return this.#type;
  }

  /** The client restarts ICE, or gives up the agent's line: this library can follow neither, so it must join again. */
  leavesUsBehind(offer: string): boolean {
    const restarts = this.#fragment !== undefined && userFragmentOf(offer) !== this.#fragment;
    return restarts || (this.#outMid !== undefined && agentLineOf(offer, this.#outMid) === 'gone');
  }

  /** Answers the client's offer. Where it wants to listen (one connection for both ways), the agent speaks there. */
  answer(offer: string, agent: AgentTrack | undefined): { readonly sdp: string; readonly agentMid?: string } {
    this.#fragment = userFragmentOf(offer);
    this.#type = offeredOpusType(offer) ?? this.#type;
    const mid = listeningMid(offer);
    if (agent && mid !== undefined && !this.#out) this.#converseOn(mid, agent, this.#type ?? OPUS_TYPE);
    const agentMid = this.#outMid;
    this.#listens = agentMid === undefined || agentLineOf(offer, agentMid) === 'heard';
    const taken = withAdmitted(trimOffer(offer), this.admits);
    this.#connection.setRemoteDescription(allOn(taken, agentMid), 'offer');
    this.#connection.setLocalDescription('answer');
    const sdp = following(offer, this.#description(), agentMid);
    return { sdp, ...(agentMid !== undefined && { agentMid }) };
  }

  /** Offers the agent's voice and data channels of our own (the older way, with two connections). */
  offer(agent: AgentTrack, type: number): string {
    this.#take(this.#connection.createDataChannel('_reliable'));
    this.#take(this.#connection.createDataChannel('_lossy', { unordered: true, maxRetransmits: 0 }));
    this.#out = this.#speakOn('audio', 'SendOnly', agent, type);
    this.#connection.setLocalDescription('offer');
    return this.#description();
  }

  accept(answer: string): void {
    this.#connection.setRemoteDescription(withAdmitted(answer, this.admits), 'answer');
  }

  /** On the client's own line, which it may put its microphone on as well. */
  #converseOn(mid: string, agent: AgentTrack, type: number): void {
    this.#out = this.#speakOn(mid, 'SendRecv', agent, type);
    this.#outMid = mid;
    this.#listenTo(this.#out);
  }

  #speakOn(mid: string, way: Direction, { ssrc, streamId, trackId }: AgentTrack, type: number): Track {
    const audio = new Audio(mid, way);
    audio.addOpusCodec(type, OPUS);
    audio.addSSRC(ssrc, CNAME, streamId, trackId);
    const track = this.#connection.addTrack(audio);
    forgetClosed(track);
    const reports = new RtcpSrReporter(new RtpPacketizationConfig(ssrc, CNAME, type, OPUS_CLOCK));
    reports.addToChain(new RtcpReceivingSession());
    track.setMediaHandler(reports);
    return track;
  }

  #description(): string {
    const { sdp = '' } = this.#connection.localDescription() ?? {};
    const { publicAddress } = this.network;
    return sdp.replace(
      /^a=(candidate:.*)$/gm,
      (_, candidate: string) => `a=${announced(candidate, publicAddress)}`,
    );
  }

  /** One that is not for it, or that it cannot use, is left out. */
  addCandidate(candidate: string, mid: string): void {
    if (this.#closed || !this.admits(candidate)) return;
    try {
      this.#connection.addRemoteCandidate(candidate, mid);
    } catch {
      // Clients send candidates of kinds that the library does not know.
    }
  }

  /** Sends an RTP packet of the agent's voice. */
  sendPacket(packet: Buffer): void {
    this.#guarded(() => this.#listens && this.#out?.isOpen() === true && this.#out.sendMessageBinary(packet));
  }

  /** False where the channel is not open, or the client does not read it. */
  sendMessage(label: string, bytes: Uint8Array): boolean {
    const channel = this.#channels.get(label);
    return this.#guarded(() => {
      if (channel?.isOpen() !== true || channel.bufferedAmount() >= MOST_BUFFERED) return false;
      // Its answer is whether the packet has left already: one that has not is on its way all the same.
      channel.sendMessageBinary(bytes);
      return true;
    });
  }

  /** A channel may close between the question and the send. */
  #guarded(send: () => boolean): boolean {
    if (this.#closed) return false;
    try {
      return send();
    } catch {
      return false;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const parts = [...this.#tracks, ...this.#open, ...(this.#out ? [this.#out] : [])];
    this.#open.clear();
    this.#channels.clear();
    this.#tracks = [];
    this.#out = undefined;
    // In this order: the library crashes where a track is closed while packets come in on it.
    this.#connection.close();
    for (const part of parts) closeQuietly(part);
  }
}
