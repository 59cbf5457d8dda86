/** A caller at an agent that answers a posted offer with its own description, as Pipecat's SmallWebRTC transport does. */
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
import { plainRtp } from './room-connection.js';
import { waitFor } from './timing.js';

/** The agent loads its models when its caller comes. */
const JOIN_MS = 60_000;

/** With which a client of Pipecat begins, and what it is told once the agent listens (RTVI). */
const READY = { label: 'rtvi-ai', id: '1', type: 'client-ready', data: { version: '2.0.0' } };
const LISTENS = 'bot-ready';

export class OfferConnection implements Connection {
  readonly #connection = new PeerConnection('caller', { iceServers: [], disableAutoNegotiation: true });
  readonly #track: Track;
  readonly #data: DataChannel;
  #agentListens = false;

  constructor({ hear, receive }: ConnectionHandlers) {
    const audio = new Audio('0', 'SendRecv');
    audio.addOpusCodec(OPUS);
    audio.addSSRC(SSRC, 'caller', 'stream', 'track');
    this.#track = this.#connection.addTrack(audio);
    this.#track.onMessage((packet) => {
      const plain = plainRtp(packet);
      if (plain) hear(plain);
    });
    this.#data = this.#connection.createDataChannel('rtvi');
    this.#data.onOpen(() => void this.#data.sendMessage(JSON.stringify(READY)));
    this.#data.onMessage((message) => {
      this.#agentListens ||= String(message).includes(LISTENS);
      receive(message as Buffer | string);
    });
  }

  async join({ media_url: url }: Invite): Promise<void> {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'offer', sdp: await this.#offer() }),
    });
    if (!answer.ok) throw new Error(`the offer was refused with HTTP ${answer.status}`);
    const { sdp } = (await answer.json()) as { readonly sdp: string };
    this.#connection.setRemoteDescription(sdp, 'answer');
    if (!(await waitFor(() => this.#agentListens && this.#track.isOpen(), JOIN_MS)))
      throw new Error('not connected in time');
  }

  /** With all candidates. */
  async #offer(): Promise<string> {
    const gathered = new Promise<void>((resolve) =>
      this.#connection.onGatheringStateChange((state) => state === 'complete' && resolve()),
    );
    this.#connection.setLocalDescription('offer');
    await gathered;
    return this.#connection.localDescription()?.sdp ?? '';
  }

  speak(packet: Buffer): void {
    sendQuietly(this.#track, packet);
  }

  leave(): void {
    for (const part of [this.#data, this.#track, this.#connection]) closeQuietly(part);
  }
}
