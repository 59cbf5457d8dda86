/**
 * JSON with audio in one long base64 string, up to 140 MiB: parsing it in one go would block the event loop for a third
 * of a second. Long strings are lifted out of the bytes first, and decoded piece by piece on demand.
 *
 * Invariant: a lifted string is replaced in the document by a name that nobody can guess, so a document cannot
 * contain such a name itself.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeBase64, decodedLength, withoutWhiteSpace } from '../../../contracts/text/base64.js';
import { isTurnOver } from '../../../contracts/time/loop-turn.js';
import { ServiceError } from '../../../contracts/errors.js';
import { expectMediaType, isJson, parseLongJson, readAll } from './body.js';
import { readText } from './long-text.js';
import type { HttpRequest } from '../port.js';

const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PAD = 0x3d;
/** Characters decoded per turn of the event loop; a multiple of four. */
const PIECE = 1024 * 1024;
/** Longest head of a `data:` URI, in characters. */
const HEAD_ALLOWANCE = 256;

/** A parsed document whose long strings are still bytes. */
export interface AudioDocument {
  readonly value: unknown;
  /**
   * Decodes a base64 string of the document; undefined if it is not valid base64. Errors: `audio_too_large` if it has
   * more than `limit` bytes.
   */
  decode(text: string, limit: number): Promise<Uint8Array | undefined>;
  /** A string of the document, of any length. Errors: `malformed_body`. */
  text(text: string): Promise<string>;
  /** The original document, with its long strings in place. Errors: `malformed_body`. */
  whole(): Promise<unknown>;
}

/** The index after a `data:` URI's comma; 0 if the text is no such URI. */
const payloadStart = (text: Buffer): number =>
  text.toString('latin1', 0, 5).toLowerCase() === 'data:'
    ? text.subarray(0, HEAD_ALLOWANCE).indexOf(COMMA) + 1
    : 0;

const paddingOf = (text: Buffer): number => (text.at(-2) === PAD ? 2 : text.at(-1) === PAD ? 1 : 0);

/** Decodes in turns of the event loop into one buffer; undefined if the text's length does not fit the result. */
async function decodeLong(text: Buffer): Promise<Uint8Array | undefined> {
  const from = payloadStart(text);
  const length = decodedLength(text.length - from - paddingOf(text));
  if (length === undefined) return undefined;
  const audio = Buffer.allocUnsafe(length);
  let written = 0;
  for (let at = from; at < text.length; at += PIECE) {
    written += audio.write(text.toString('latin1', at, at + PIECE), written, 'base64');
    await nextTurn();
  }
  return written === audio.length ? audio : undefined;
}

/** The text without white space, in turns of the event loop. */
async function compacted(text: Buffer): Promise<Buffer> {
  const kept = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += PIECE) {
    length += kept.write(withoutWhiteSpace(text.toString('latin1', at, at + PIECE)), length, 'latin1');
    await nextTurn();
  }
  return kept.subarray(0, length);
}

/** Unescapes base64 first if needed, since some JSON writers escape each slash, and each line break must be. */
async function decodeLifted(text: Buffer): Promise<Uint8Array | undefined> {
  const base64 = text.includes(BACKSLASH) ? Buffer.from(await readText(text), 'latin1') : text;
  const audio = await decodeLong(base64);
  if (audio) return audio;
  const compact = await compacted(base64);
  return compact.length === base64.length ? undefined : decodeLong(compact);
}

/** The value with all lifted strings back in place. */
async function restored(value: unknown, lifted: ReadonlyMap<string, Buffer>): Promise<unknown> {
  if (typeof value === 'string') {
    const long = lifted.get(value);
    return long ? readText(long) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (isTurnOver()) await nextTurn();
    members.push([name, await restored(member, lifted)]);
  }
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

function checkSize(size: number, limit: number): void {
  if (size > limit) throw new ServiceError('audio_too_large');
}

/** Errors: those of `readAll`, `unsupported_media_type`, `malformed_body`. */
export async function readAudioJson(request: HttpRequest, limitBytes: number): Promise<AudioDocument> {
  expectMediaType(request.headers, isJson);
  const prefix = randomUUID();
  const lifted = new Map<string, Buffer>();
  const value = await parseLongJson(await readAll(request, limitBytes), (text) => {
    const name = `${prefix}-${lifted.size}`;
    lifted.set(name, text);
    return name;
  });
  return {
    value,
    whole: async () => (lifted.size === 0 ? value : restored(value, lifted)),
    async text(text) {
      const long = lifted.get(text);
      return long ? readText(long) : text;
    },
    async decode(text, limit) {
      const long = lifted.get(text);
      // Escapes, of line breaks too, make a text longer than its audio; then only the limit of the body bounds it before it is decoded.
      if (!long?.includes(BACKSLASH))
        checkSize(Math.floor(((long ?? text).length * 3) / 4), limit + HEAD_ALLOWANCE);
      const audio = long ? await decodeLifted(long) : decodeBase64(text);
      checkSize(audio?.length ?? 0, limit);
      return audio;
    },
  };
}
