/** What signatures of providers and tokens of ours have in common. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** A webhook is taken for so long after it was signed, and before: clocks differ. */
const MOST_OFF_MS = 5 * 60_000;

/** `signed`: seconds since 1970. `now`: milliseconds. */
export const isTimely = (signed: number, now: number): boolean =>
  Math.abs(now - signed * 1000) <= MOST_OFF_MS;

const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** Whether two texts are the same, in a time that does not tell how far they are. */
export const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));
