/** Speech as it arrives: samples, when its words are, and playing it meanwhile. */
import { request } from '../api.js';

export const RATE = 24_000;

export interface Word {
  readonly text: string;
  /** Seconds from the beginning of the speech. */
  readonly start: number;
  readonly end: number;
}

interface StreamedChunk {
  readonly audio_base64: string;
  readonly alignment: { readonly segments: readonly Word[] } | null;
  readonly chunk_seq: number;
  readonly chunk_audio_offset_sec: number;
}

/** What is received of a piece of speech. */
export interface Received {
  readonly samples: Float32Array;
  /** All words so far; undefined where this brings nothing new. */
  readonly words: readonly Word[];
}

function samplesOf(base64: string): Float32Array {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from(
    { length: bytes.length >> 1 },
    (_, index) => view.getInt16(index * 2, true) / 32_768,
  );
}

/** The data of each event. Errors: what the gateway says in one of its own. */
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

/** Speaks: 16-bit PCM at RATE, with the times of its words. Errors: Refusal; what aborted the signal. */
export async function* speech(body: object, signal: AbortSignal): AsyncGenerator<Received> {
  const asked = { ...body, format: 'pcm', sample_rate: RATE };
  const response = await request('v1/tts/stream/with-timestamp', { body: asked, signal });
  const words = new Map<number, readonly Word[]>();
  for await (const data of events(response)) {
    const {
      audio_base64,
      alignment,
      chunk_seq,
      chunk_audio_offset_sec: offset,
    } = JSON.parse(data) as StreamedChunk;
    const placed = alignment?.segments.map(({ text, start, end }) => ({
      text,
      start: start + offset,
      end: end + offset,
    }));
    if (placed) words.set(chunk_seq, placed);
    yield { samples: samplesOf(audio_base64), words: [...words.values()].flat() };
  }
}

/** Plays samples one behind the other, as they come; what comes late is heard late. */
export class LivePlayer {
  readonly #context = new AudioContext({ sampleRate: RATE });
  /** Where the next samples go, and what has been scheduled so far, in seconds. */
  #next = 0;
  #scheduled = 0;

  add(samples: Float32Array): void {
    if (samples.length === 0) return;
    const buffer = this.#context.createBuffer(1, samples.length, RATE);
    buffer.getChannelData(0).set(samples);
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    this.#next = Math.max(this.#next, this.#context.currentTime + 0.02);
    source.start(this.#next);
    this.#next += buffer.duration;
    this.#scheduled += buffer.duration;
  }

  /** Seconds of the speech that were heard. */
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
