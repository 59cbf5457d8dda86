/**
 * The `tracestate` of W3C's trace context: what tracing systems say of a trace to each other, in key-value pairs that
 * are passed on as they came. One pair that is malformed, or one too many, voids the whole. We add none of our own.
 */
import { LIMITS } from '../../contracts/limits.js';

/** Level 2 of the standard, which takes all that level 1 takes. */
const KEY = /^[a-z0-9][a-z0-9_\-*/@]{0,255}$/;
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
/** The first to go where there is too much: the standard's own measure. */
const LONG_MEMBER = 128;

const isMember = (text: string): boolean => {
  const mark = text.indexOf('=');
  return mark > 0 && KEY.test(text.slice(0, mark)) && VALUE.test(text.slice(mark + 1));
};

/** Blanks around a member belong to the list, but for those that a value begins with. */
const OUTER_BLANKS = /^[ \t]+|[ \t]+$/g;

/** Within `most` characters: without long members, if need be, and then without the last ones. */
function shortened(members: readonly string[], most: number): readonly string[] {
  const length = (of: readonly string[]): number => of.reduce((sum, member) => sum + member.length + 1, -1);
  if (length(members) <= most) return members;
  const kept = members.filter((member) => member.length <= LONG_MEMBER);
  while (length(kept) > most) kept.pop();
  return kept;
}

/** The state to pass on; undefined where there is none, or it is not valid. Repeated headers come joined by commas. */
export function parseTracestate(header: string | undefined): string | undefined {
  const { stateMembers, stateLength } = LIMITS.trace;
  const members = (header ?? '')
    .split(',')
    .map((text) => text.replace(OUTER_BLANKS, ''))
    .filter((text) => text !== '');
  if (members.length > stateMembers || !members.every(isMember)) return undefined;
  return shortened(members, stateLength).join(',') || undefined;
}
