/**
 * The agent's data packets and transcripts, over the client's present connection. Packets written before its channel
 * is open wait, bounded in bytes.
 */
import type { DataPacket } from '@livekit/protocol';
import { pieceOf } from '../../contracts/ports/accounts/memory.js';
import type { TranscriptText } from '../../contracts/ports/calls/calls.js';
import { Transcripts } from '../transcripts.js';
import { PacketWriter, type Sender, TextStream } from './data.js';

const MOST_WAITING_BYTES = 256 * 1024;
/** Largest packet that clients read; a larger one would block all after it. */
const MOST_SENT_BYTES = 128 * 1024;

export interface Speakers {
  readonly agent: Sender & { readonly trackSid: string };
  /** The user, a new one with each join. */
  user(): Sender & { readonly tracks: { readonly microphone?: string | undefined } };
}

export class Messages {
  readonly #writer = new PacketWriter();
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  readonly #transcripts: Transcripts;

  constructor(
    private readonly speakers: Speakers,
    /** False if it could not be sent. */
    private readonly send: (packet: Uint8Array) => boolean,
  ) {
    const { agent, user } = speakers;
    const write = (sender: Sender, value: DataPacket['value']) =>
      this.#post(this.#writer.packet(sender, value));
    this.#transcripts = new Transcripts(
      (speaker, attributes) => new TextStream(speaker === 'agent' ? agent : user(), attributes, write),
      () => agent.trackSid,
      () => user().tracks.microphone,
    );
  }

  message(topic: string, payload: Uint8Array): void {
    this.#post(this.#writer.message(this.speakers.agent, topic, payload));
  }

  answer(values: readonly DataPacket['value'][]): void {
    for (const value of values) this.#post(this.#writer.packet(this.speakers.agent, value));
  }

  show(text: TranscriptText): void {
    this.#transcripts.show(text);
  }

  /** The client has rejoined. */
  renew(): void {
    this.#transcripts.renew();
  }

  /** Sends waiting packets until the client accepts no more. */
  flush(): void {
    for (let packet = this.#waiting[0]; packet && this.send(packet); packet = this.#waiting[0]) {
      this.#waiting.shift();
      this.#waitingBytes -= pieceOf(packet.length);
    }
  }

  #post(packet: Uint8Array): void {
    const { length } = packet;
    const memory = pieceOf(length);
    if (length > MOST_SENT_BYTES || this.#waitingBytes + memory > MOST_WAITING_BYTES) return;
    this.#waiting.push(packet);
    this.#waitingBytes += memory;
    this.flush();
  }
}
