/** A caller in a session: it sends audio all the time, hears the agent, and is shown transcripts. */
import type { Invite } from '../servers/agents.js';
import { type Connection, OPUS, SSRC } from './connection.js';
import { DirectConnection } from './direct-connection.js';
import { Heard } from './heard.js';
import { OfferConnection } from './offer-connection.js';
import { RoomConnection } from './room-connection.js';
import { FRAME_MS, waitFor } from './timing.js';
import { Transcripts } from './transcripts.js';
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

const CONNECTIONS = { direct: DirectConnection, room: RoomConnection, offer: OfferConnection };

export class Caller {
  readonly heard = new Heard();
  readonly #queue: { readonly packet: Buffer; readonly pcm: Buffer; readonly sent: number[] }[] = [];
  readonly #way: Way;
  readonly #transcripts = new Transcripts();
  readonly #header = Buffer.alloc(RTP_HEADER);
  readonly #connection: Connection;
  /** Frames that were due so far; of them those in which something was said. */
  sent = 0;
  said = 0;

  private constructor({ by = 'direct' }: Invite, way: Way) {
    this.#way = way;
    const Kind = CONNECTIONS[by];
    this.#connection = new Kind({
      hear: (bytes) => this.#hear(bytes),
      receive: (message) => this.#transcripts.take(message),
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
    this.sent += 1;
    if (next !== undefined) this.said += 1;
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

  get hasTranscript(): boolean {
    return this.#transcripts.hasSaid;
  }

  /** The transcripts of the user shown since the last call of this method. */
  takeTranscript(): string {
    return this.#transcripts.takeSaid();
  }

  /** How many answers of the agent have ended, or were broken off: what it only pauses in is not over. */
  get answersOver(): number {
    return this.#transcripts.answersOver;
  }

  leave(): void {
    this.#connection.leave();
  }

  #hear(bytes: Buffer): void {
    if (bytes.length <= RTP_HEADER || ((bytes[1] ?? 0) & 0x7f) !== OPUS) return;
    this.heard.take(bytes);
    this.#way.hear(this.heard.frames.at(-1)!.pcm);
  }
}
