/** What signatures of providers and tokens of ours have in common. */
import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** Whether two texts are the same, in a time that does not tell how far they are. */
export const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));
