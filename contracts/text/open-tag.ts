/**
 * The beginning of a tag at the end of a text (`<break time="1`, `[in a hur`, `(laugh`), which more text may complete: who cuts text
 * as it arrives does not cut there, because both halves would be read aloud. What is a tag: engines/text/style-tags.ts.
 */

/** Most characters of the attributes of a tag in angle brackets. */
export const TAG_ATTRIBUTES = 80;

/** Most characters behind the first letter of such a tag: its name and its attributes. */
const MOST = TAG_ATTRIBUTES + 10;

export const OPEN_TAG = new RegExp(`(?:</?[a-z][^<>]{0,${MOST}}|[<([][^<>()[\\]]{0,40})$`, 'iu');

/** Whether the text up to `end` ends within a tag. */
export const endsInTag = (text: string, end: number): boolean =>
  OPEN_TAG.test(text.slice(Math.max(0, end - MOST - 3), end));
