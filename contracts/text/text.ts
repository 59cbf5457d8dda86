/** Whether a text has more than `most` characters, counted as in schemas: a surrogate pair is one. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most);

/** The text's first bytes in UTF-8, never half a character. */
export function firstBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, most), { stream: true });
}

/** The text's first UTF-16 code units, never half a surrogate pair. */
export function firstUnits(text: string, most: number): string {
  const first = text.slice(0, most);
  return first.length < text.length ? first.replace(/[\ud800-\udbff]$/u, '') : first;
}

/** The text with each half of a surrogate pair replaced: strict readers of JSON refuse a document that has one. */
export const wellFormed = (text: string): string => text.replace(/[\ud800-\udfff]/gu, '\ufffd');

const NO_CHARACTER = /[\ufffe\uffff]/gu;

/** The text at the same length, with U+FFFD for what Unicode says is no character: code uses these as marks of its own. */
export const withoutNonCharacters = (text: string): string => text.replace(NO_CHARACTER, '\ufffd');

/** The same, and for halves of surrogate pairs, which cannot be sent back. For text that is whole. */
export const onlyCharacters = (text: string): string => withoutNonCharacters(wellFormed(text));

/** A plain value of a client's as text; empty for null, objects and lists, whose own `toString` may be anything. */
export const plainText = (value: unknown): string => (typeof value === 'object' ? '' : String(value));
