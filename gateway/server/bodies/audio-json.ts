/**
 * JSON with audio in one long base64 string, up to 140 MiB: never whole in memory, and never parsed in one go, which would
 * block the event loop for a third of a second. Long strings are lifted out of the bytes as they arrive (long-strings.ts), and
 * decoded piece by piece on demand.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeBase64 } from '../../../contracts/text/base64.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { mustCharge } from '../../../contracts/ports/accounts/memory.js';
import type { StoredFile } from '../../../contracts/ports/speech/codec.js';
import { mostBytesOf } from './arriving-bytes.js';
import { ArrivingFile, type BodyStorage } from './arriving-file.js';
import { isTurnOver } from '../../../contracts/time/loop-turn.js';
import { expectMediaType, isJson, parseLongJson } from './body.js';
import { decoded, HEAD_ALLOWANCE } from './long-base64.js';
import { type LongString, LongStrings } from './long-strings.js';
import { readText } from './long-text.js';
import type { HttpRequest } from '../port.js';

/** A parsed document whose long strings were lifted out of it. */
export interface AudioDocument {
  readonly value: unknown;
  /**
   * Decodes a base64 string of the document, to disk if it is long; undefined if it is not valid base64. Errors:
   * `audio_too_large` if it has more than `limit` bytes, `memory_exhausted`, `storage_full`.
   */
  decode(text: string, limit: number): Promise<Uint8Array | StoredFile | undefined>;
  /** A string of the document, of any length up to that of a text. Errors: `malformed_body`, `payload_too_large`, `memory_exhausted`. */
  text(text: string): Promise<string>;
  /** The original document, with its long strings in place. Errors: as of `text`. */
  whole(): Promise<unknown>;
}

function checkSize(size: number, limit: number): void {
  if (size > limit) throw new ServiceError('audio_too_large');
}

async function decodeLong(
  long: LongString,
  limit: number,
  request: BodyStorage,
): Promise<Uint8Array | StoredFile | undefined> {
  const audio = new ArrivingFile(request, limit);
  try {
    for await (const bytes of decoded(long)) {
      if (!bytes) {
        audio.clear();
        return undefined;
      }
      checkSize(audio.size + bytes.length, limit);
      audio.add(bytes);
      await audio.room();
    }
    return await audio.finish();
  } catch (error) {
    audio.clear();
    throw error;
  }
}

/** The value with all lifted strings back in place, in turns of the event loop. */
async function restored(value: unknown, texts: ReadonlyMap<string, string>): Promise<unknown> {
  if (typeof value === 'string') return texts.get(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (isTurnOver()) await nextTurn();
    members.push([name, await restored(member, texts)]);
  }
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

class Document implements AudioDocument {
  constructor(
    readonly value: unknown,
    private readonly lifted: ReadonlyMap<string, LongString>,
    private readonly request: BodyStorage,
  ) {}

  async decode(text: string, limit: number): Promise<Uint8Array | StoredFile | undefined> {
    const long = this.lifted.get(text);
    // Escapes, of line breaks too, make a text longer than its audio; then only the limit of the body bounds it before it is decoded.
    if (!long?.escaped) checkSize(Math.floor(((long?.size ?? text.length) * 3) / 4), limit + HEAD_ALLOWANCE);
    if (long) return decodeLong(long, limit, this.request);
    const audio = decodeBase64(text);
    checkSize(audio?.length ?? 0, limit);
    return audio;
  }

  async text(text: string): Promise<string> {
    const long = this.lifted.get(text);
    if (!long) return text;
    if (long.size > LIMITS.body.text) throw new ServiceError('payload_too_large');
    mustCharge(this.request.share('text'), long.size);
    return readText(long);
  }

  async whole(): Promise<unknown> {
    const texts = new Map<string, string>();
    for (const name of this.lifted.keys()) texts.set(name, await this.text(name));
    return texts.size === 0 ? this.value : restored(this.value, texts);
  }
}

/** Errors: those of `request.body`, `unsupported_media_type`, `malformed_body`, `memory_exhausted`, `storage_full`. */
export async function readAudioJson(
  request: Pick<HttpRequest, 'headers' | 'body'> & BodyStorage,
  limitBytes: number,
): Promise<AudioDocument> {
  expectMediaType(request.headers, isJson);
  const strings = new LongStrings(request, mostBytesOf(request.headers, limitBytes));
  try {
    for await (const chunk of request.body(limitBytes))
      await strings.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    return new Document(await parseLongJson(strings.rest()), strings.lifted, request);
  } catch (error) {
    strings.clear();
    throw error;
  }
}
