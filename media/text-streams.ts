/**
 * Text that a client sends in pieces (LiveKit's text streams: header, chunks, trailer), put together to one message of the
 * call. Bounded: streams at once, bytes and time of each; one that is too long is reported as such, one that is
 * never finished is forgotten.
 */
import { LIMITS } from '../contracts/limits.js';
import type { DataReport } from './wire.js';

const { atOnce, ms: longestMs, bytes: mostBytes } = LIMITS.session.clientStreams;

/** Topic of what a user types, in LiveKit's components, starters and playground. */
export const CHAT_TOPIC = 'lk.chat';
/** Topics whose streams are for the agent. */
export const TEXT_TOPICS: ReadonlySet<string> = new Set([CHAT_TOPIC]);

interface Stream {
  readonly topic: string;
  readonly since: number;
  readonly chunks: Map<number, Uint8Array>;
  bytes: number;
}

export class TextStreams {
  readonly #streams = new Map<string, Stream>();

  /** `now`: monotonic, in milliseconds. */
  constructor(
    private readonly now: () => number,
    private readonly report: (report: DataReport) => void,
  ) {}

  /** `content`: of a stream that fits into its header. */
  begin(id: string, topic: string, content: Uint8Array = new Uint8Array()): void {
    this.#forgetOld();
    if (!TEXT_TOPICS.has(topic) || this.#streams.has(id)) return;
    const [oldest] = this.#streams.keys();
    if (oldest !== undefined && this.#streams.size >= atOnce) this.#streams.delete(oldest);
    this.#streams.set(id, { topic, since: this.now(), chunks: new Map(), bytes: 0 });
    if (content.length > 0) this.add(id, -1, content);
  }

  add(id: string, index: number, content: Uint8Array): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    stream.bytes += content.length;
    if (stream.bytes > mostBytes || stream.chunks.size >= mostBytes) return this.#refuse(id, stream);
    stream.chunks.set(index, content);
  }

  end(id: string): void {
    this.#forgetOld();
    const stream = this.#streams.get(id);
    if (!stream) return;
    this.#streams.delete(id);
    const ordered = [...stream.chunks].toSorted(([one], [other]) => one - other);
    this.report({ on: 'data', topic: stream.topic, payload: Buffer.concat(ordered.map(([, part]) => part)) });
  }

  #refuse(id: string, { topic }: Stream): void {
    this.#streams.delete(id);
    this.report({ on: 'data', topic, payload: new Uint8Array(), tooLong: true });
  }

  #forgetOld(): void {
    const since = this.now() - longestMs;
    for (const [id, stream] of this.#streams) if (stream.since < since) this.#streams.delete(id);
  }
}
