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

const paddingOf = (text: string): number => (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);

/** Without the white space that encoders for mail (RFC 2045: Android's default, Ruby's) put into base64 as line breaks. */
export const withoutWhiteSpace = (base64: string): string => base64.replace(/[\t\n\r ]+/g, '');

/** The bytes; undefined if the text is not base64. Checked by the length of the result, not by a pattern. */
function decoded(payload: string): Uint8Array | undefined {
  const bytes = Buffer.from(payload, 'base64');
  return bytes.length === decodedLength(payload.length - paddingOf(payload)) ? bytes : undefined;
}

/** The bytes; undefined if the text is not base64. White space is removed only if the text is not base64 as it is. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const payload = payloadOf(text);
  return decoded(payload) ?? decoded(withoutWhiteSpace(payload));
}
