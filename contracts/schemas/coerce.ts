/**
 * Reads unset values and booleans from untyped inputs, or if clients
 * send words for them: form fields, headers, and handwritten JSON (rule 3; docs/contract/decisions.md
 * 1). One function for protocols A, B and header values. A number is never taken for unset: a
 * temperature of 0 is a temperature.
 */

const UNSET_WORDS = new Set(['', 'false', '0', 'none', 'off', 'null', '[]', '{}']);
const TRUE_WORDS = new Set(['true', '1', 'yes', 'on']);

/** More characters than any of the words has: of a long text only the beginning is made lower case. */
const WORD_LENGTH = 8;

const wordOf = (text: string): string => text.trim().slice(0, WORD_LENGTH).toLowerCase();

const isEmptyObject = (value: object): boolean =>
  !ArrayBuffer.isView(value) && Object.keys(value).length === 0;

/** Whether an option counts as unset (rule 3): false, 0, null, empty, or a word for one of them (`'False'`, `none`, `off`). */
export function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0) return true;
  if (typeof value === 'string') return UNSET_WORDS.has(wordOf(value));
  if (Array.isArray(value)) return value.every(isUnset);
  return typeof value === 'object' && isEmptyObject(value);
}

const NUMBER = /^-?\d{1,9}(\.\d{1,9})?$/;

/** The number that a text writes out; any other value as it is. */
export const numberFrom = (value: unknown): unknown =>
  typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value;

/** The boolean that the value means; undefined if it means none. */
export function booleanOf(value: unknown): boolean | undefined {
  if (isUnset(value)) return false;
  if (value === true || value === 1) return true;
  return typeof value === 'string' && TRUE_WORDS.has(wordOf(value)) ? true : undefined;
}
