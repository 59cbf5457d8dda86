/** Speech as it arrives: its samples, the times of its words, and its playout. */
import { levelOf } from '../../../src/level.js';
import { request } from '../api.js';
import { RATE, samplesOf } from './pcm.js';

export interface Word {
  readonly text: string;
  /** Seconds from the beginning of the speech. */
  readonly start: number;
  readonly end: number;
}

interface StreamedChunk {
  readonly audio_base64: string;
  /** The text of the piece that `chunk_seq` counts. */
  readonly content: string;
  readonly alignment: { readonly segments: readonly Word[] } | null;
  readonly chunk_seq: number;
  readonly chunk_audio_offset_sec: number;
}

/** A received piece of speech. */
export interface Received {
  readonly samples: Float32Array;
  /** All words so far; undefined if this piece brings none. */
  readonly words: readonly Word[];
}

/** The data of each server-sent event. Errors: those that the gateway reports in an event. */
async function* events(response: Response): AsyncGenerator<string> {
  let rest = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    const parts = (rest + read.value).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: ?(.*)$/m.exec(part)?.[1] ?? '';
      if (/^event: error/m.test(part))
        throw new Error((JSON.parse(data) as { readonly message: string }).message);
      if (data) yield data;
    }
  }
}

/** The words as spelled in the text, each with everything up to the next word. */
function spelled(content: string, words: readonly Word[]): readonly Word[] {
  let end = 0;
  const starts = words.map(({ text }) => {
    const start = content.indexOf(text, end);
    end = Math.max(end, start + text.length);
    return start;
  });
  if (starts.includes(-1)) return words.map((word) => ({ ...word, text: `${word.text} ` }));
  const text = `${content.trimEnd()} `;
  return words.map((word, index) => ({
    ...word,
    text: text.slice(index === 0 ? 0 : starts[index], starts[index + 1]),
  }));
}

/** Synthesises speech: 16-bit PCM at RATE, with the times of its words. Errors: Refusal; the signal's abort reason. */
export async function* speech(body: object, signal: AbortSignal): AsyncGenerator<Received> {
  const asked = { ...body, format: 'pcm', sample_rate: RATE };
  const response = await request('v1/tts/stream/with-timestamp', { body: asked, signal });
  const words = new Map<number, readonly Word[]>();
  for await (const data of events(response)) {
    const {
      audio_base64,
      alignment,
      content,
      chunk_seq,
      chunk_audio_offset_sec: offset,
    } = JSON.parse(data) as StreamedChunk;
    const placed = alignment?.segments.map(({ text, start, end }) => ({
      text,
      start: start + offset,
      end: end + offset,
    }));
    if (placed) words.set(chunk_seq, spelled(content, placed));
    yield { samples: samplesOf(audio_base64), words: [...words.values()].flat() };
  }
}

/** Plays samples one after the other as they arrive; late samples are heard late. */
export class LivePlayer {
  readonly #context = new AudioContext({ sampleRate: RATE });
  readonly #analyser = this.#context.createAnalyser();
  readonly #window = new Float32Array(1024);
  readonly #sources = new Set<AudioBufferSourceNode>();
  /** When the next samples start, and how much has been scheduled so far, in seconds. */
  #next = 0;
  #scheduled = 0;

  constructor() {
    this.#analyser.connect(this.#context.destination);
  }

  add(samples: Float32Array): void {
    if (samples.length === 0) return;
    const buffer = this.#context.createBuffer(1, samples.length, RATE);
    buffer.getChannelData(0).set(samples);
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#analyser);
    source.onended = () => this.#sources.delete(source);
    this.#sources.add(source);
    this.#next = Math.max(this.#next, this.#context.currentTime + 0.02);
    source.start(this.#next);
    this.#next += buffer.duration;
    this.#scheduled += buffer.duration;
  }

  /** Drops all samples that were not heard yet. */
  clear(): void {
    for (const source of this.#sources) source.stop();
    this.#sources.clear();
    this.#scheduled = this.time;
    this.#next = 0;
  }

  /** The current loudness, from 0 to 1. */
  get level(): number {
    this.#analyser.getFloatTimeDomainData(this.#window);
    return levelOf(this.#window);
  }

  /** Seconds of speech heard so far. */
  get time(): number {
    return Math.max(0, this.#scheduled - Math.max(0, this.#next - this.#context.currentTime));
  }

  get over(): boolean {
    return this.#context.currentTime >= this.#next;
  }

  close(): void {
    if (this.#context.state !== 'closed') void this.#context.close();
  }
}
