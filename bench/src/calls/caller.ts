/** A caller in a session: it sends audio all the time, hears the agent, and is shown transcripts. */
import { DataPacket } from '@livekit/protocol';
import type { Invite } from '../servers/agents.js';
import { type Connection, OPUS, SSRC } from './connection.js';
import { DirectConnection } from './direct-connection.js';
import { Heard } from './heard.js';
import { RoomConnection } from './room-connection.js';
import { FRAME_MS, waitFor } from './timing.js';
import type { Utterance } from './utterance.js';
import { DIRECT, frameOf, type Way } from './way.js';

const SAID_MS = 20_000;
/** At 48 kHz, which RTP counts Opus in. */
const TICKS_A_FRAME = 960;
const RTP_HEADER = 12;

/** Something that has been said: when its first packet, its first sound and its last had left. */
export interface Said {
  readonly pcm: Buffer;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

interface Shown {
  readonly isUser: boolean;
  text: string;
  isFinal: boolean;
}

export class Caller {
  readonly heard = new Heard();
  readonly #queue: { readonly packet: Buffer; readonly pcm: Buffer; readonly sent: number[] }[] = [];
  readonly #way: Way;
  readonly #shown = new Map<string, Shown>();
  readonly #header = Buffer.alloc(RTP_HEADER);
  readonly #connection: Connection;
  #answersOver = 0;

  private constructor({ isRoom = false }: Invite, way: Way) {
    this.#way = way;
    const Kind = isRoom ? RoomConnection : DirectConnection;
    this.#connection = new Kind({
      hear: (bytes) => this.#hear(bytes),
      receive: (bytes) => this.#receive(bytes),
    });
    this.#header[0] = 0x80;
    this.#header[1] = OPUS;
    this.#header.writeUInt32BE(SSRC, 8);
  }

  /** Resolves once media flows in both directions. Rejects where that takes too long. */
  static async join(invite: Invite, way: Way = DIRECT): Promise<Caller> {
    const caller = new Caller(invite, way);
    try {
      await caller.#connection.join(invite);
      return caller;
    } catch (error) {
      caller.leave();
      throw error;
    }
  }

  /** 20 ms of what is to be said, else of silence. */
  sendFrame(): void {
    this.#header.writeUInt16BE((this.#header.readUInt16BE(2) + 1) & 0xffff, 2);
    this.#header.writeUInt32BE((this.#header.readUInt32BE(4) + TICKS_A_FRAME) >>> 0, 4);
    const next = this.#queue.shift();
    next?.sent.push(performance.now());
    const packet = this.#way.packetOf(next);
    if (packet !== undefined) this.#connection.speak(Buffer.concat([this.#header, packet]));
  }

  /** Resolves when the last of it has left, with the instants at which its first and its last sound had left. */
  async say({ pcm, packets, from, to }: Utterance): Promise<Said> {
    const sent: number[] = [];
    this.#queue.push(...packets.map((packet, index) => ({ packet, pcm: frameOf(pcm, index), sent })));
    await waitFor(() => sent.length === packets.length, packets.length * 2 * FRAME_MS + SAID_MS);
    const leftAt = (ms: number): number => sent[Math.floor(ms / FRAME_MS)] ?? performance.now();
    return { pcm, at: leftAt(0), from: leftAt(from), to: leftAt(Math.max(0, to - 1)) };
  }

  get #said(): [stream: string, shown: Shown][] {
    return [...this.#shown].filter(([, { isUser, isFinal }]) => isUser && isFinal);
  }

  get hasTranscript(): boolean {
    return this.#said.length > 0;
  }

  /** The transcripts of the user shown since the last call of this method. */
  takeTranscript(): string {
    const said = this.#said;
    for (const [stream] of said) this.#shown.delete(stream);
    return said.map(([, { text }]) => text).join(' ');
  }

  /** How many answers of the agent have ended, or were broken off: what it only pauses in is not over. */
  get answersOver(): number {
    return this.#answersOver;
  }

  leave(): void {
    this.#connection.leave();
  }

  #hear(bytes: Buffer): void {
    if (bytes.length <= RTP_HEADER || ((bytes[1] ?? 0) & 0x7f) !== OPUS) return;
    this.heard.take(bytes);
    this.#way.hear(this.heard.frames.at(-1)!.pcm);
  }

  /** Transcripts come as streams of text. */
  #receive(bytes: Buffer): void {
    const { value, participantIdentity } = DataPacket.fromBinary(new Uint8Array(bytes));
    if (value.case === 'streamHeader') {
      const { streamId, attributes } = value.value;
      const isFinal = attributes['lk.transcription_final'] === 'true';
      this.#shown.set(streamId, { isUser: participantIdentity === 'user', text: '', isFinal });
    }
    if (value.case === 'streamChunk') {
      const shown = this.#shown.get(value.value.streamId);
      if (shown) shown.text += Buffer.from(value.value.content).toString();
    }
    if (value.case === 'streamTrailer') {
      const shown = this.#shown.get(value.value.streamId);
      if (!shown) return;
      shown.isFinal ||= value.value.attributes['lk.transcription_final'] === 'true';
      if (!shown.isUser && shown.isFinal) this.#answersOver += 1;
    }
  }
}
