/**
 * The `tracestate` header of W3C trace context: key-value pairs of tracing systems, which are passed on unchanged. One
 * malformed pair, or one too many, invalidates all of them. The gateway adds none.
 */
import { LIMITS } from '../../../contracts/limits.js';

/** A key by level 2 of the standard, which accepts every key of level 1. */
const KEY = /^[a-z0-9][a-z0-9_\-*/@]{0,255}$/;
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
/** Longer members are dropped first if the header is too long, as the standard says. */
const LONG_MEMBER = 128;

const isMember = (text: string): boolean => {
  const mark = text.indexOf('=');
  return mark > 0 && KEY.test(text.slice(0, mark)) && VALUE.test(text.slice(mark + 1));
};

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

/**
 * A member without the blanks around it; those after its `=` are part of it. By hand, since a regular expression for the
 * blanks at the end takes quadratic time for blanks in the middle, of which a header has room for 60,000.
 */
function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

/** Shortens the list to `most` characters: drops the long members first, then the last ones. */
function shortened(members: readonly string[], most: number): readonly string[] {
  const length = (of: readonly string[]): number => of.reduce((sum, member) => sum + member.length + 1, -1);
  if (length(members) <= most) return members;
  const kept = members.filter((member) => member.length <= LONG_MEMBER);
  while (length(kept) > most) kept.pop();
  return kept;
}

/** The state to pass on; undefined if there is none or it is invalid. Repeated headers arrive joined by commas. */
export function parseTracestate(header: string | undefined): string | undefined {
  const { stateMembers, stateLength } = LIMITS.trace;
  const members = (header ?? '')
    .split(',')
    .map(withoutBlanks)
    .filter((text) => text !== '');
  if (members.length > stateMembers || !members.every(isMember)) return undefined;
  return shortened(members, stateLength).join(',') || undefined;
}
