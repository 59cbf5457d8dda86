/**
 * What the agent writes: data packets and transcripts, over whichever connection the client has now. What is written
 * before its channel is open waits, in bounded bytes; the agent's transcript is one stream a segment, the user's
 * one stream an update (native-and-platform.md 6.9).
 */
import type { DataPacket } from '@livekit/protocol';
import type { TranscriptText } from '../../contracts/ports/calls.js';
import { PacketWriter, type Sender, TextStream } from './data.js';

const MOST_WAITING_BYTES = 256 * 1024;

const attributesOf = (segment: string, trackSid: string, final: boolean): Record<string, string> => ({
  'lk.segment_id': segment,
  'lk.transcription_final': String(final),
  'lk.transcribed_track_id': trackSid,
});

export interface Speakers {
  readonly agent: Sender & { readonly trackSid: string };
  /** Anew with each join. */
  user(): Sender;
}

export class Messages {
  readonly #writer = new PacketWriter();
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** What the agent is saying. */
  #open: { readonly segment: string; stream: TextStream; text: string } | undefined;

  constructor(
    private readonly speakers: Speakers,
    /** False where it could not be sent. */
    private readonly send: (packet: Uint8Array) => boolean,
  ) {}

  message(topic: string, payload: Uint8Array): void {
    this.#post(this.#writer.message(this.speakers.agent, topic, payload));
  }

  answer(values: readonly DataPacket['value'][]): void {
    for (const value of values) this.#post(this.#writer.packet(this.speakers.agent, value));
  }

  show({ speaker, segment, text, final }: TranscriptText): void {
    if (speaker === 'agent') this.#showAgent(segment, text, final);
    else this.#showUser(segment, text, final);
  }

  #showAgent(segment: string, text: string, final: boolean): void {
    if (this.#open?.segment !== segment) {
      this.#open?.stream.end();
      this.#open = { segment, stream: this.#stream(this.speakers.agent, segment, false), text: '' };
    }
    this.#open.text += text;
    if (text !== '') this.#open.stream.add(text);
    if (!final) return;
    this.#open.stream.end({ 'lk.transcription_final': 'true' });
    this.#open = undefined;
  }

  #showUser(segment: string, text: string, final: boolean): void {
    const stream = this.#stream(this.speakers.user(), segment, final);
    stream.add(text);
    stream.end();
  }

  #stream(from: Sender, segment: string, final: boolean): TextStream {
    const attributes = attributesOf(segment, this.speakers.agent.trackSid, final);
    return new TextStream(from, attributes, (sender, value) =>
      this.#post(this.#writer.packet(sender, value)),
    );
  }

  /** The client has joined anew and knows of no stream: what the agent is saying begins again, as a whole. */
  renew(): void {
    const open = this.#open;
    if (!open) return;
    open.stream = this.#stream(this.speakers.agent, open.segment, false);
    if (open.text !== '') open.stream.add(open.text);
  }

  /** The client's channel is open. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const packet of waiting) this.send(packet);
  }

  #post(packet: Uint8Array): void {
    if (this.#waiting.length === 0 && this.send(packet)) return;
    if (this.#waitingBytes + packet.length > MOST_WAITING_BYTES) return;
    this.#waiting.push(packet);
    this.#waitingBytes += packet.length;
  }
}
