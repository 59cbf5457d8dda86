/**
 * Transcript messages from `lk.transcription` streams: each update of the user's is a new stream; the agent's streams grow
 * while it is heard. After a reconnect that breaks a stream off, another stream repeats its segment from the
 * beginning.
 */
import type { Emitter, SessionEvents } from './events.js';
import { ATTRIBUTES } from './protocol.js';
import type { TextReader } from './room.js';

interface Segment {
  text: string;
  broken: boolean;
}

export class Transcripts {
  /** The agent's segments that have not ended. */
  readonly #open = new Map<string, Segment>();

  constructor(private readonly events: Pick<Emitter<SessionEvents>, 'emit'>) {}

  /** Resolves when the stream has ended. Never rejects. */
  async read(reader: TextReader, isUser: boolean): Promise<void> {
    const segmentId = reader.info.attributes?.[ATTRIBUTES.segment];
    if (segmentId === undefined) return;
    await (isUser ? this.#user(segmentId, reader) : this.#agent(segmentId, reader)).catch(() => undefined);
  }

  async #user(segmentId: string, reader: TextReader): Promise<void> {
    let text = '';
    for await (const chunk of reader) text += chunk;
    const { attributes = {} } = reader.info;
    const final = attributes[ATTRIBUTES.final] === 'true';
    // It was noise: an empty text takes it back.
    if (attributes[ATTRIBUTES.withdrawn] === 'true') text = '';
    this.events.emit('userTranscript', { segmentId, text, final });
    if (final && text !== '') this.events.emit('message', { role: 'user', text });
  }

  async #agent(segmentId: string, reader: TextReader): Promise<void> {
    this.#finishBroken(segmentId);
    const segment = this.#open.get(segmentId) ?? { text: '', broken: false };
    segment.broken = false;
    this.#open.set(segmentId, segment);
    try {
      await this.#follow(segmentId, segment, reader);
      this.#finish(segmentId, segment);
    } catch {
      segment.broken = true;
    }
  }

  async #follow(segmentId: string, segment: Segment, reader: TextReader): Promise<void> {
    let read = '';
    for await (const chunk of reader) {
      read += chunk;
      const delta = read.slice(segment.text.length);
      if (delta === '') continue;
      segment.text = read;
      this.events.emit('agentResponseDelta', { segmentId, delta, text: read });
    }
  }

  /** Ends the broken segments, except the one with the id `except`: the agent has begun another. */
  #finishBroken(except?: string): void {
    for (const [segmentId, segment] of this.#open)
      if (segment.broken && segmentId !== except) this.#finish(segmentId, segment);
  }

  #finish(segmentId: string, { text }: Segment): void {
    if (!this.#open.delete(segmentId)) return;
    this.events.emit('agentResponse', { segmentId, text });
    if (text.trim() !== '') this.events.emit('message', { role: 'agent', text });
  }

  /** Emits the segments that have not ended as they are. Idempotent. */
  close(): void {
    for (const [segmentId, segment] of this.#open) this.#finish(segmentId, segment);
  }
}
