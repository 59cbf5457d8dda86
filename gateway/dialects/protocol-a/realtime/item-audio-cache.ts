/**
 * Audio of finished items, for answers to `conversation.item.retrieve`. One cache for all sessions of a process, bounded
 * in bytes: the least recently used audio goes first, and its item is then shown without audio. Clips are charged to their
 * session, and go before it does if memory is short.
 */
import { LRUCache } from 'lru-cache';
import { BYTES_PER_SAMPLE } from '../../../../contracts/audio.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { MemoryShare } from '../../../../contracts/ports/accounts/memory.js';
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

/** Sessions' ids hold no slash. */
const keyOf = (session: string, item: string): string => `${session}/${item}`;
const sessionOf = (key: string): string => key.slice(0, key.indexOf('/'));

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

interface KeptClip extends Clip {
  readonly share: MemoryShare;
  readonly memory: number;
}

/** The chunks in one piece with memory of its own: chunks may be parts of something much larger. */
function wholeOf(chunks: Chunks, size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

export class ItemAudioCache {
  /** Clips by session and item. */
  readonly #clips: LRUCache<string, KeptClip>;
  readonly #sessions = new Map<string, { readonly share: MemoryShare; keys?: Set<string> }>();

  constructor(bytes: number = MOST_IN_ALL) {
    this.#clips = new LRUCache({
      maxSize: bytes,
      sizeCalculation: ({ memory }) => memory,
      dispose: ({ share, memory }, key) => {
        share.release(memory);
        this.#sessions.get(sessionOf(key))?.keys?.delete(key);
      },
    });
  }

  /** Number of clips. */
  get size(): number {
    return this.#clips.size;
  }

  /** Before a session's first clip. `share` is charged for its clips. */
  open(session: string, share: MemoryShare): void {
    this.#sessions.set(session, { share });
  }

  /** Drops all clips of a session, and takes no more. */
  close(session: string): void {
    this.forget(session);
    this.#sessions.delete(session);
  }

  /** Drops all clips of a session. */
  forget(session: string): void {
    for (const key of [...(this.#sessions.get(session)?.keys ?? [])]) this.#clips.delete(key);
  }

  /** Clients choose ids of items, so keys begin with the session's id. A clip for which there is no memory is not kept. */
  put(session: string, item: string, clip: Clip): void {
    this.drop(session, item);
    const kept = this.#sessions.get(session);
    const size = sizeOf(clip.chunks);
    const memory = size + ENTRY_BYTES;
    if (!kept || size > MOST_OF_ITEM || !kept.share.charge(memory)) return;
    const key = keyOf(session, item);
    (kept.keys ??= new Set()).add(key);
    this.#clips.set(key, { ...clip, chunks: [wholeOf(clip.chunks, size)], share: kept.share, memory });
  }

  get(session: string, item: string): Chunks {
    return this.#clips.get(keyOf(session, item))?.chunks ?? [];
  }

  /** Milliseconds of an item's audio; undefined if unknown. */
  msOf(session: string, item: string): number | undefined {
    const clip = this.#clips.get(keyOf(session, item));
    return clip && lengthOf(clip);
  }

  drop(session: string, item: string): void {
    this.#clips.delete(keyOf(session, item));
  }

  /** Keeps the first `ms` milliseconds; drops a clip that cannot be cut. */
  cut(session: string, item: string, ms: number): void {
    const clip = this.#clips.get(keyOf(session, item));
    const bytes = clip && bytesUpTo(ms, clip);
    this.drop(session, item);
    if (clip && bytes !== undefined) {
      const { format, sampleRate, chunks } = clip;
      this.put(session, item, {
        format,
        sampleRate,
        chunks: chunks.map((whole) => whole.subarray(0, bytes)),
      });
    }
  }
}
