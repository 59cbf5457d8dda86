/** Whether a text has more than `most` characters, counted as in schemas: a surrogate pair is one. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most);

/** The text's first bytes in UTF-8, never half a character. */
export function firstBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, most), { stream: true });
}

/** The text with each half of a surrogate pair replaced: strict readers of JSON refuse a document that has one. */
export const wellFormed = (text: string): string => text.replace(/[\ud800-\udfff]/gu, '\ufffd');
