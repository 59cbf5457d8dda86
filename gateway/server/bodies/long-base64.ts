/** Decodes long base64 in turns of the event loop: of 32 MiB, one turn would take tens of milliseconds. */
import { decodeBase64, withoutWhiteSpace } from '../../../contracts/text/base64.js';
import type { LongString } from './long-strings.js';
import { base64Of } from './long-text.js';

/** Longest head of a `data:` URI, in characters. */
export const HEAD_ALLOWANCE = 256;
/** Characters of base64 that stand for three bytes. */
const QUARTET = 4;

/** The text after a `data:` URI's head, if it is one. */
const payloadOf = (text: string): string =>
  text.slice(0, 5).toLowerCase() === 'data:'
    ? text.slice(text.slice(0, HEAD_ALLOWANCE).indexOf(',') + 1)
    : text;

/** Decodes base64 that arrives in pieces. */
class Base64Decoding {
  /** Characters that wait: the end of a text may be padded. */
  #waiting = '';
  #begun = false;

  /** The bytes that are complete; undefined if the text is not base64. */
  next(piece: string): Uint8Array | undefined {
    const text = this.#waiting + withoutWhiteSpace(this.#begun ? piece : payloadOf(piece));
    this.#begun = true;
    const to = Math.max(0, text.length - QUARTET - (text.length % QUARTET));
    this.#waiting = text.slice(to);
    const bytes = Buffer.from(text.slice(0, to), 'base64');
    return bytes.length === (to / QUARTET) * 3 ? bytes : undefined;
  }

  end(): Uint8Array | undefined {
    return decodeBase64(this.#waiting);
  }
}

/** The bytes in pieces, an undefined one if the text is not base64. Errors: `malformed_body`. */
export async function* decoded(long: LongString): AsyncGenerator<Uint8Array | undefined> {
  const decoding = new Base64Decoding();
  for await (const piece of base64Of(long)) yield decoding.next(piece);
  yield decoding.end();
}

/** All bytes; undefined if the text is not base64. Errors: `malformed_body`. */
export async function decodeWhole(long: LongString): Promise<Uint8Array | undefined> {
  const whole = Buffer.allocUnsafeSlow(Math.ceil((long.size * 3) / QUARTET));
  let size = 0;
  for await (const bytes of decoded(long)) {
    if (!bytes) return undefined;
    whole.set(bytes, size);
    size += bytes.length;
  }
  return whole.subarray(0, size);
}
