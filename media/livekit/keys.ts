/**
 * Keys of a telephone, one after the other, at the pace of a person: the SIP service sends each as a telephone
 * event (RFC 4733). A key that cannot be sent is skipped.
 */
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import { systemClock } from '../../contracts/clock.js';
import { withTimeout } from '../../contracts/time/timeouts.js';

const KEYS = '0123456789*#ABCD';
const PAUSE = 'w';
const PAUSE_MS = 500;
/** A key, and the gap after it. */
const KEY_MS = 300;

const passed = (ms: number): Promise<void> => new Promise((resolve) => void systemClock.after(ms, resolve));

/** Presses each key in turn. `send` sends one key with its code (RFC 4733, 3.2). Resolves when all have been sent. */
export async function pressKeys(
  keys: string,
  send: (code: number, key: string) => Promise<void>,
): Promise<void> {
  for (const key of keys) {
    if (key === PAUSE) await passed(PAUSE_MS);
    const code = KEYS.indexOf(key);
    if (code < 0) continue;
    await withTimeout(systemClock, CALL_TIMES.roomLastWordsMs, send(code, key)).catch(() => undefined);
    await passed(KEY_MS);
  }
}
