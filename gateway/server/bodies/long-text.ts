/**
 * Reads long strings of a JSON document, from memory or from disk. Reading a hundred megabytes at once would block the event
 * loop, so they are read in pieces.
 */
import { open } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredFile } from '../../../contracts/ports/speech/codec.js';
import type { LongString } from './long-strings.js';
import { noJson } from './structure.js';

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** Bytes of escapes such as `\n` and `\u00e4`. */
const ESCAPE = { short: 2, long: 6 };
/** Bytes read per turn of the event loop. */
const PIECE = 256 * 1024;
/** Most bytes of a character. */
const CHARACTER = 4;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What a string of JSON must escape, or does. */
// oxlint-disable-next-line no-control-regex -- control characters are no part of a string
const NOT_PLAIN = /[\x00-\x1f"\\]/;

/** `bytes`: the text between the quotes, with its escapes. Errors: `malformed_body`. */
export function textOf(bytes: Uint8Array): string {
  try {
    const text = UTF8.decode(bytes);
    // What stands for itself need not be copied twice.
    return NOT_PLAIN.test(text) ? (JSON.parse(`"${text}"`) as string) : text;
  } catch (cause) {
    throw noJson(cause);
  }
}

async function* piecesOf(content: Uint8Array | StoredFile): AsyncGenerator<Buffer> {
  if (content instanceof Uint8Array) {
    for (let at = 0; at < content.length; at += PIECE) {
      yield Buffer.from(content.buffer, content.byteOffset + at, Math.min(PIECE, content.length - at));
      await nextTurn();
    }
    return;
  }
  const handle = await open(content.path);
  try {
    for (let at = 0; at < content.size;) {
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(PIECE), 0, PIECE, at);
      if (bytesRead === 0) throw new Error('A stored body is shorter than it was');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Start of an escape that the end of the bytes splits; undefined if it splits none. */
function splitEscape(bytes: Buffer): number | undefined {
  const last = bytes.lastIndexOf(BACKSLASH);
  if (last < 0 || last + ESCAPE.long <= bytes.length) return undefined;
  let run = last;
  while (run > 0 && bytes[run - 1] === BACKSLASH) run -= 1;
  if ((last - run) % 2 !== 0) return undefined;
  const length = bytes[last + 1] === LETTER_U ? ESCAPE.long : ESCAPE.short;
  return last + length > bytes.length ? last : undefined;
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Bytes of the character that begins with this one. */
const characterLength = (byte: number): number =>
  byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : CHARACTER;

/** Start of the last character, if the end of the bytes splits it; else their end. */
function splitCharacter(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (at > bytes.length - CHARACTER && isContinuation(bytes[at] ?? 0)) at -= 1;
  return at + characterLength(bytes[at] ?? 0) > bytes.length ? at : bytes.length;
}

/** The string in pieces of text. Errors: `malformed_body`. */
async function* textsOf({ content }: Pick<LongString, 'content'>): AsyncGenerator<string> {
  let split: Buffer = Buffer.alloc(0);
  for await (const piece of piecesOf(content)) {
    const bytes = split.length === 0 ? piece : Buffer.concat([split, piece]);
    const to = splitEscape(bytes) ?? splitCharacter(bytes);
    yield textOf(bytes.subarray(0, to));
    split = Buffer.from(bytes.subarray(to));
  }
  yield textOf(split);
}

/** The string as base64, whose characters need no decoding unless they are escaped. Errors: `malformed_body`. */
export async function* base64Of(long: LongString): AsyncGenerator<string> {
  if (long.escaped) return yield* textsOf(long);
  for await (const piece of piecesOf(long.content)) yield piece.toString('latin1');
}

/** `most`: characters after which it is not read on. Errors: `malformed_body`. */
export async function readText(long: Pick<LongString, 'content'>, most = Infinity): Promise<string> {
  const texts: string[] = [];
  let length = 0;
  for await (const text of textsOf(long)) {
    texts.push(text);
    length += text.length;
    if (length > most) break;
  }
  return texts.join('');
}
