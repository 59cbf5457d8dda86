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

const WHITE_SPACE: ReadonlySet<number> = new Set([...'\t\n\r '].map((character) => character.charCodeAt(0)));

/** Without the white space that encoders for mail (RFC 2045: Android's default, Ruby's) put into base64 as line breaks. */
export const withoutWhiteSpace = (base64: string): string => base64.replace(/[\t\n\r ]+/g, '');

function countWhiteSpace(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (WHITE_SPACE.has(text.charCodeAt(at))) count += 1;
  return count;
}

/**
 * The bytes; undefined if the text is not base64. Checked by the length of the result, not by a pattern: the decoder skips white
 * space by itself, which is counted only if the length is wrong without it.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  const payload = payloadOf(text.trim());
  const bytes = Buffer.from(payload, 'base64');
  const characters = payload.length - paddingOf(payload);
  const isWhole = (skipped: number): boolean => bytes.length === decodedLength(characters - skipped);
  return isWhole(0) || isWhole(countWhiteSpace(payload)) ? bytes : undefined;
}
