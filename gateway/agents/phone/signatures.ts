/** Common checks of providers' signatures and of our tokens. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** How long after its signature a webhook is accepted, and how long before, as clocks differ. */
const MOST_OFF_MS = 5 * 60_000;

/** `signed`: seconds since 1970. `now`: milliseconds. */
export const isTimely = (signed: number, now: number): boolean =>
  Math.abs(now - signed * 1000) <= MOST_OFF_MS;

const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** Compares two texts in a time that does not reveal how much of them is the same. */
export const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));
