/**
 * Audio of finished items, for answers to `conversation.item.retrieve`. One cache for all sessions of a process, bounded
 * in bytes: the least recently used audio goes first, and its item is then shown without audio.
 */
import { LRUCache } from 'lru-cache';
import { BYTES_PER_SAMPLE } from '../../../../contracts/audio.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { WireFormat } from './formats.js';

type Chunks = readonly Uint8Array[];

export interface Clip extends WireFormat {
  readonly chunks: Chunks;
}

const { item: MOST_OF_ITEM, process: MOST_IN_ALL } = LIMITS.realtime.readableAudioBytes;
/** Length of the header of a response's WAV audio. */
const WAV_HEADER_BYTES = 44;
/** Size that an entry counts in addition to its audio. */
const ENTRY_BYTES = 512;

const sizeOf = (chunks: Chunks): number => chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** The audio in base64; undefined if there is none, or more than one event may carry. */
export function base64Of(chunks: Chunks): string | undefined {
  const size = sizeOf(chunks);
  return size === 0 || size > MOST_OF_ITEM ? undefined : Buffer.concat(chunks).toString('base64');
}

/** Length in bytes of the first `ms` milliseconds; undefined if the format cannot be cut by counting bytes. */
function bytesUpTo(ms: number, { format, sampleRate }: WireFormat): number | undefined {
  const samples = Math.floor((ms * sampleRate) / 1000) * BYTES_PER_SAMPLE;
  if (format === 'pcm') return samples;
  return format === 'wav' ? WAV_HEADER_BYTES + samples : undefined;
}

/** Milliseconds of a clip; undefined if its format does not tell. */
function lengthOf({ chunks, format, sampleRate }: Clip): number | undefined {
  if (format !== 'pcm' && format !== 'wav') return undefined;
  const bytes = sizeOf(chunks) - (format === 'wav' ? WAV_HEADER_BYTES : 0);
  return (bytes * 1000) / (BYTES_PER_SAMPLE * sampleRate);
}

export class ItemAudioCache {
  readonly #clips: LRUCache<string, Clip>;

  constructor(bytes: number = MOST_IN_ALL) {
    this.#clips = new LRUCache({
      maxSize: bytes,
      maxEntrySize: MOST_OF_ITEM + ENTRY_BYTES,
      sizeCalculation: ({ chunks }) => sizeOf(chunks) + ENTRY_BYTES,
    });
  }

  /** Number of clips. */
  get size(): number {
    return this.#clips.size;
  }

  /** Clients choose ids of items, so keys begin with the session's id. */
  put(session: string, item: string, clip: Clip): void {
    this.#clips.set(`${session}/${item}`, clip);
  }

  get(session: string, item: string): Chunks {
    return this.#clips.get(`${session}/${item}`)?.chunks ?? [];
  }

  /** Milliseconds of an item's audio; undefined if unknown. */
  msOf(session: string, item: string): number | undefined {
    const clip = this.#clips.get(`${session}/${item}`);
    return clip && lengthOf(clip);
  }

  drop(session: string, item: string): void {
    this.#clips.delete(`${session}/${item}`);
  }

  /** Keeps the first `ms` milliseconds; drops a clip that cannot be cut. */
  cut(session: string, item: string, ms: number): void {
    const clip = this.#clips.get(`${session}/${item}`);
    const bytes = clip && bytesUpTo(ms, clip);
    this.drop(session, item);
    if (clip && bytes !== undefined)
      this.put(session, item, { ...clip, chunks: [Buffer.concat(clip.chunks).subarray(0, bytes)] });
  }
}
