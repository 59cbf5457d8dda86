/**
 * One WebRTC connection on node-datachannel, with guards for the library's traps (docs/contract/transport.md "Traps"): it throws on
 * sends to closed channels and on candidates that it does not know, ends the process where a description comes at the wrong time, and
 * cannot restart ICE.
 *
 * Invariant: after `close` there are no more events, and no call on it throws.
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
import { type Admits, withAdmitted, withoutCandidates } from './candidates.js';
import { OPUS_CLOCK, OPUS_TYPE } from './rtp.js';
import { behind, type RelayedPort } from './relayed-port.js';
import { offeredOpusType, passwordOf, trimOffer, userFragmentOf } from './sdp.js';

export interface MediaNetwork {
  /** Address to which UDP is bound; if absent, all. */
  readonly bind?: string;
  /** One port for all connections of this process. */
  readonly port: number;
  /** Announced instead of this machine's addresses, for a machine behind NAT. */
  readonly publicAddress?: string;
  readonly iceServers: readonly string[];
  /** Where clients come by TURN over TCP or TLS, if there is such a server for them. */
  readonly relayed?: RelayedPort;
}

export interface PeerEvents {
  candidate(candidate: string, mid: string): void;
  state(state: 'connected' | 'disconnected'): void;
  channelOpen(label: string): void;
  message(label: string, bytes: Uint8Array): void;
  /** A message of text; absent: it is ignored. */
  text?(label: string, text: string): void;
  channelClosed?(label: string): void;
  /** All candidates of ours are known. */
  gathered?(): void;
  /** An RTP packet of a track of the user, on that line. */
  packet(bytes: Buffer, type: number, mid: string): void;
}

/** Ids of the agent's track, by which a client knows whose it is. */
export interface AgentTrack {
  readonly ssrc: number;
  readonly streamId: string;
  readonly trackId: string;
}

/** RTCP's canonical name of the sender, one per clock (RFC 3550, 6.5.1). */
const CNAME = 'agent';
const OPUS = 'minptime=10;useinbandfec=1';
/** Most bytes buffered in a channel; `sendMessage` then returns false. */
const MOST_BUFFERED = 1024 * 1024;
/** Most open channels of a client, of any name; LiveKit's clients have two or three. More are closed. */
const MOST_CHANNELS = 32;

const CONNECTED = new Set(['connected']);
const LOST = new Set(['disconnected', 'failed', 'closed']);

/**
 * `candidate:… 1 UDP 2122 <address> <port> typ host …` with another address. The library prefixes the `a=` of a
 * description, which candidates of browsers never have (W3C webrtc-pc, 4.8.1) and not every client tolerates.
 */
export function announced(line: string, address: string | undefined): string {
  const candidate = line.replace(/^a=/, '');
  if (address === undefined || !/ typ host/.test(candidate)) return candidate;
  const fields = candidate.split(' ');
  fields[4] = address;
  return fields.join(' ');
}

/** Whether a candidate of the library is an address of this machine, of IPv4. */
const isOwn = (line: string): boolean => / \d+\.[\d.]+ \d+ typ host/.test(line);

/** The library frees a closed track (or channel), native memory included, only if it has a listener for `closed`. */
const forgetClosed = (track: Track): void => track.onClosed(() => undefined);

/** Closes a part, as the library keeps the listeners of open parts, and everything that they reference. */
function closeQuietly(part: { close(): void }): void {
  try {
    part.close();
  } catch {
    // It had closed already.
  }
}

export class Peer {
  readonly #connection: PeerConnection;
  /** The open channels, and the last channel of each name. */
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
  /** Our candidates, while an offer of ours waits for its answer. */
  #withheld: (readonly [line: string, mid: string])[] | undefined;
  /** Lets no more clients of this connection in. */
  #shut: (() => void) | undefined;

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
      // The library decides on media at the first description, which may have only data.
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
    connection.onLocalCandidate((candidate, mid) => this.#tell(() => this.#announce(candidate, mid)));
    connection.onGatheringStateChange((state) => {
      if (state === 'complete') this.#tell(() => this.events.gathered?.());
    });
    connection.onDataChannel((channel) => this.#take(channel));
    connection.onTrack((track) => this.#receive(track));
  }

  #announce(line: string, mid: string): void {
    if (this.#withheld) {
      this.#withheld.push([line, mid]);
      return;
    }
    const { publicAddress, relayed } = this.network;
    const candidate = announced(line, publicAddress);
    this.events.candidate(candidate, mid);
    if (relayed && isOwn(line)) this.events.candidate(behind(candidate, relayed.port), mid);
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
      if (typeof message === 'string') this.#tell(() => this.events.text?.(label, message));
      else this.#tell(() => this.events.message(label, new Uint8Array(message)));
    });
  }

  #forget(channel: DataChannel, label: string): void {
    this.#open.delete(channel);
    if (this.#channels.get(label) !== channel) return;
    this.#channels.delete(label);
    this.#tell(() => this.events.channelClosed?.(label));
  }

  #receive(track: Track): void {
    if (this.#tracks.includes(track)) return;
    forgetClosed(track);
    this.#tracks.push(track);
    track.setMediaHandler(new RtcpReceivingSession());
    this.#listenTo(track);
  }

  #listenTo(track: Track): void {
    const mid = track.mid();
    track.onMessage((bytes) => this.#tell(() => this.events.packet(bytes, this.#type ?? OPUS_TYPE, mid)));
  }

  /** The client's payload type for Opus, once it has offered any. */
  get opusType(): number | undefined {
    return this.#type;
  }

  /** Whether the offer restarts ICE or drops the agent's line: the library supports neither, so the client must rejoin. */
  leavesUsBehind(offer: string): boolean {
    const restarts = this.#fragment !== undefined && userFragmentOf(offer) !== this.#fragment;
    return restarts || (this.#outMid !== undefined && agentLineOf(offer, this.#outMid) === 'gone');
  }

  /**
   * Answers the client's offer. With `agent` (one connection for both directions), the agent speaks on the line that the client listens on.
   * Throws if the offer cannot be read, or the connection has closed by itself.
   */
  answer(offer: string, agent: AgentTrack | undefined): { readonly sdp: string; readonly agentMid?: string } {
    this.#fragment = userFragmentOf(offer);
    this.#type = offeredOpusType(offer) ?? this.#type;
    const mid = listeningMid(offer);
    if (agent && mid !== undefined && !this.#out) this.#converseOn(mid, agent, this.#type ?? OPUS_TYPE);
    const agentMid = this.#outMid;
    this.#listens = agentMid === undefined || agentLineOf(offer, agentMid) === 'heard';
    const taken = withAdmitted(trimOffer(offer), this.admits);
    this.#connection.setRemoteDescription(allOn(taken, agentMid), 'offer');
    // The library takes no offer on a connection that has closed by itself, and does not say so; to answer then would end the process.
    if (this.#connection.signalingState() !== 'have-remote-offer')
      throw new Error('The connection is closed');
    this.#connection.setLocalDescription('answer');
    const sdp = following(offer, this.#description(), agentMid);
    return { sdp, ...(agentMid !== undefined && { agentMid }) };
  }

  /**
   * Offers the agent's voice and our data channels (the older way, with two connections). Candidates are told behind the answer: a
   * client that knew them would begin to check at once, and the library, which sets up encryption on another thread as soon as it has
   * an answer's password, would at times look for the answer's fingerprint before it has stored it, and close the connection.
   */
  offer(agent: AgentTrack, type: number): string {
    this.#take(this.#connection.createDataChannel('_reliable'));
    this.#take(this.#connection.createDataChannel('_lossy', { unordered: true, maxRetransmits: 0 }));
    this.#out = this.#speakOn('audio', 'SendOnly', agent, type);
    this.#withheld = [];
    this.#connection.setLocalDescription('offer');
    return withoutCandidates(this.#description());
  }

  /** Takes the answer to our offer; one that no offer waits for is ignored. Throws if it cannot be read. */
  accept(answer: string): void {
    if (this.#connection.signalingState() !== 'have-local-offer') return;
    this.#connection.setRemoteDescription(withAdmitted(answer, this.admits), 'answer');
    const withheld = this.#withheld ?? [];
    this.#withheld = undefined;
    for (const [line, mid] of withheld) this.#announce(line, mid);
  }

  /** Has the agent speak on the client's line, on which the client may also put its microphone. */
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
    const { publicAddress, relayed } = this.network;
    const [fragment, password] = [userFragmentOf(sdp), passwordOf(sdp)];
    if (fragment !== undefined && password !== undefined) this.#shut ??= relayed?.admit(fragment, password);
    return sdp.replace(
      /^a=(candidate:.*)$/gm,
      (_, candidate: string) => `a=${announced(candidate, publicAddress)}`,
    );
  }

  /** Adds a candidate; ignores one that is refused or that the library cannot use. */
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

  /** False if the channel is not open, or the client does not read it. */
  sendMessage(label: string, bytes: Uint8Array): boolean {
    return this.#sendOn(label, (channel) => channel.sendMessageBinary(bytes));
  }

  /** As `sendMessage`, as text. */
  sendText(label: string, text: string): boolean {
    return this.#sendOn(label, (channel) => channel.sendMessage(text));
  }

  #sendOn(label: string, send: (channel: DataChannel) => boolean): boolean {
    const channel = this.#channels.get(label);
    return this.#guarded(() => {
      if (channel?.isOpen() !== true || channel.bufferedAmount() >= MOST_BUFFERED) return false;
      // Its result is ignored: false only means that the message is buffered and leaves later.
      send(channel);
      return true;
    });
  }

  /** A channel may close between the check and the send; that counts as not sent. */
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
    this.#shut?.();
    const parts = [...this.#tracks, ...this.#open, ...(this.#out ? [this.#out] : [])];
    this.#open.clear();
    this.#channels.clear();
    this.#tracks = [];
    this.#out = undefined;
    // In this order: the library crashes if a track is closed while packets arrive on it.
    this.#connection.close();
    for (const part of parts) closeQuietly(part);
  }
}
