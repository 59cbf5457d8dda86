/** The parts of a text that are not spoken as they are written, and in which no piece may end: both halves would be read aloud. */
import { ANY_WHOLE, ruleOf } from './speakable-rules.js';

/** Stand for a character of such a part, and for its last one; neither is a character of any text. */
const MASK = '\uffff';
const MASK_END = '\ufffe';

const NOWHERE = { before: '', after: '', beginsLine: false, language: 'en', styleTags: false } as const;

/** The text at the same length with U+FFFF for these parts, and U+FFFE for the last character of each. */
export const maskWhole = (text: string): string =>
  text.replace(ANY_WHOLE, (match: string, ...groups: unknown[]) => {
    const instead = ruleOf(groups, true).instead({ match, ...NOWHERE });
    return instead === undefined ? match : MASK.repeat(match.length - 1) + MASK_END;
  });

/** The end of the part that `index` lies within; `index` itself if it lies in none. */
export function pastPart(masked: string, index: number): number {
  let end = index;
  while (masked[end - 1] === MASK) end += 1;
  return end;
}

/**
 * The beginning of such a part at the end of a text that still arrives: a link's target, an address, a tag, a citation, an entity.
 * Bounded, so that little speech waits for it.
 */
export const OPEN_PART = new RegExp(
  [
    /\](?:\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?:\([^()\s]{0,200})?(?:[ \t]{1,3}"[^"\n]{0,200}"?)?)?/u,
    /(?:https?:|www\.)[^\s<>"'`|]{0,2000}/u,
    /<[/!|a-z][^<>]{0,600}/u,
    /\[[\^\d][^[\]\n]{0,40}|【[^【】\n]{0,80}/u,
    /&[#\w]{0,10}/u,
  ]
    .map(({ source }) => `(?:${source})$`)
    .join('|'),
  'u',
);

/** The same of an address without protocol, which looks like the last word of a sentence until something follows. */
export const OPEN_ADDRESS = /(?:(?<![\w.+-])[\w.+-]{1,64}[@.][\w.-]{0,80}|(?<!\uffff)\uffff*\ufffe)$/u;
