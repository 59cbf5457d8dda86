/** How long a receiver asks us to wait: `Retry-After` of a 429 or 503, in seconds or as a date, within a bound. */
import { LIMITS } from '../../../contracts/limits.js';

const BUSY = new Set([429, 503]);

/** In milliseconds; 0 if it does not ask. `now` in milliseconds since the epoch. */
export function retryAfterMs(status: number, header: string | undefined, now: number): number {
  if (!BUSY.has(status) || header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return ms > 0 ? Math.min(ms, LIMITS.postCallWebhook.retryAfterMs) : 0;
}
