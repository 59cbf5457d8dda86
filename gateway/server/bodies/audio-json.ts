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
import { ServiceError } from '../../../contracts/errors.js';
import { expectMediaType, isJson, parseJson, readAll } from './body.js';
import { readText, textOf } from './long-text.js';
import type { HttpRequest } from '../port.js';
import { boundJson } from './structure.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PAD = 0x3d;
/** Bytes from which a string is lifted. */
const LONG = 64 * 1024;
/** Characters decoded per turn of the event loop; a multiple of four. */
const PIECE = 1024 * 1024;
/** Longest head of a `data:` URI, in characters. */
const HEAD_ALLOWANCE = 256;

interface Span {
  readonly start: number;
  readonly end: number;
}

const isEscaped = (bytes: Buffer, at: number): boolean => {
  let before = at - 1;
  while (bytes[before] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
};

/** The text between the quotes of each string. */
function* stringsIn(bytes: Buffer): Generator<Span> {
  for (let open = bytes.indexOf(QUOTE); open >= 0;) {
    let close = bytes.indexOf(QUOTE, open + 1);
    while (close >= 0 && isEscaped(bytes, close)) close = bytes.indexOf(QUOTE, close + 1);
    if (close < 0) return;
    yield { start: open + 1, end: close };
    open = bytes.indexOf(QUOTE, close + 1);
  }
}

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
  whole(): unknown;
}

function lift(bytes: Buffer): { readonly rest: Uint8Array; readonly lifted: ReadonlyMap<string, Buffer> } {
  const prefix = randomUUID();
  const lifted = new Map<string, Buffer>();
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const span of stringsIn(bytes)) {
    if (span.end - span.start < LONG) continue;
    const name = `${prefix}-${lifted.size}`;
    lifted.set(name, bytes.subarray(span.start, span.end));
    kept.push(bytes.subarray(from, span.start), Buffer.from(name));
    from = span.end;
  }
  return { rest: Buffer.concat([...kept, bytes.subarray(from)]), lifted };
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
function restored(value: unknown, lifted: ReadonlyMap<string, Buffer>): unknown {
  if (typeof value === 'string') {
    const long = lifted.get(value);
    return long ? textOf(long) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member: unknown) => restored(member, lifted));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, restored(member, lifted)]),
  ) as unknown;
}

function checkSize(size: number, limit: number): void {
  if (size > limit) throw new ServiceError('audio_too_large');
}

/** Errors: those of `readAll`, `unsupported_media_type`, `malformed_body`. */
export async function readAudioJson(request: HttpRequest, limitBytes: number): Promise<AudioDocument> {
  expectMediaType(request.headers, isJson);
  const read = await readAll(request, limitBytes);
  const bytes = Buffer.from(read.buffer, read.byteOffset, read.byteLength);
  boundJson(bytes);
  const { rest, lifted } = lift(bytes);
  const value = parseJson(rest);
  return {
    value,
    whole: () => (lifted.size === 0 ? value : restored(value, lifted)),
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
