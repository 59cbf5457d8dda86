/** Preparations on a machine that is busy: what a server sheds is asked for again. Not for what is measured. */
import { setTimeout as pause } from 'node:timers/promises';

const TRIES = 20;
const SHED_MS = 500;

/** `ask` throws an Error that says `HTTP 503` where the server sheds it. Errors: those of the last try. */
export async function askAgain<T>(ask: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left -= 1)
    try {
      return await ask();
    } catch (error) {
      if (left === 0 || !String(error).includes('HTTP 503')) throw error;
      await pause(SHED_MS);
    }
}
