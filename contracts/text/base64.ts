/** Base64 from clients, with or without a `data:` URI around it, and with or without line breaks. */

/** Longer than any `data:audio/…;base64,` that a client writes. */
const DATA_URI_HEAD = /^data:[^,]{0,128};base64,/i;

/** Bytes that come out of this many characters, without padding; undefined if no base64 has that many. */
export const decodedLength = (characters: number): number | undefined =>
  characters % 4 === 1 ? undefined : Math.floor((characters * 3) / 4);

const payloadOf = (text: string): string => {
  const head = DATA_URI_HEAD.exec(text.slice(0, 160))?.[0];
  return head === undefined ? text : text.slice(head.length);
};

/** Characters of padding at the end of base64. */
export const paddingOf = (text: string): number => (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);

/** A character that is neither of base64, in either alphabet, nor white space. */
const FOREIGN = /[^A-Za-z0-9+/_\-=\t\n\r ]/;
const SPACE = 0x20;

/** Without the white space that encoders for mail (RFC 2045: Android's default, Ruby's) put into base64 as line breaks. */
export const withoutWhiteSpace = (base64: string): string => base64.replace(/[\t\n\r ]+/g, '');

/** For text without foreign characters. Bytes are counted, which takes half as long as characters do. */
function countWhiteSpace(text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) if ((bytes[at] ?? 0) <= SPACE) count += 1;
  return count;
}

/**
 * The bytes; undefined if the text is not base64. Checked by the length of the result, which costs nothing: the decoder skips
 * what it does not know. Only if the length is wrong, the text is read again, to see whether white space alone was skipped.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  const payload = payloadOf(text.trim());
  const bytes = Buffer.from(payload, 'base64');
  const characters = payload.length - paddingOf(payload);
  const isWhole = (skipped: number): boolean => bytes.length === decodedLength(characters - skipped);
  const isBase64 = isWhole(0) || (!FOREIGN.test(payload) && isWhole(countWhiteSpace(payload)));
  return isBase64 ? bytes : undefined;
}
