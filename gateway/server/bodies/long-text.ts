/**
 * Reads strings of a JSON document from their bytes. Reading a hundred megabytes at once would block the event loop, so
 * long strings are read in pieces. `bytes`: the text between the quotes, with its escapes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../../../contracts/errors.js';

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** Bytes of escapes such as `\n` and `\u00e4`. */
const ESCAPE = { short: 2, long: 6 };
/** Bytes read per turn of the event loop. */
const PIECE = 256 * 1024;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Errors: `malformed_body`. */
export function textOf(bytes: Uint8Array): string {
  try {
    return JSON.parse(`"${UTF8.decode(bytes)}"`) as string;
  } catch (cause) {
    throw new ServiceError('malformed_body', { message: 'The request body is not valid JSON', cause });
  }
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Start of the escape that `to` would split; undefined if it splits none. */
function escapeAround(bytes: Buffer, from: number, to: number): number | undefined {
  const last = bytes.subarray(from, to).lastIndexOf(BACKSLASH) + from;
  if (last < from || last + ESCAPE.long <= to) return undefined;
  let run = last;
  while (run > from && bytes[run - 1] === BACKSLASH) run -= 1;
  const escapes = (last - run) % 2 === 0;
  const length = bytes[last + 1] === LETTER_U ? ESCAPE.long : ESCAPE.short;
  return escapes && last + length > to ? last : undefined;
}

/** End of the piece that begins at `from`; splits neither an escape nor a character. */
function pieceEnd(bytes: Buffer, from: number): number {
  let to = from + PIECE;
  if (to >= bytes.length) return bytes.length;
  while (isContinuation(bytes[to] ?? 0) && to > from + PIECE - 4) to -= 1;
  return escapeAround(bytes, from, to) ?? to;
}

/** Like `textOf`, in turns of the event loop. Errors: `malformed_body`. */
export async function readText(bytes: Buffer): Promise<string> {
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = pieceEnd(bytes, from);
    pieces.push(textOf(bytes.subarray(from, to)));
    from = to;
    await nextTurn();
  }
  return pieces.join('');
}
