/**
 * Long work that may hold this process's event loop: a load of a model, or one long inference. It is announced to all
 * callers and to the supervisor before it begins, since nothing can be said while the loop is held; they then wait longer
 * before they take the process for frozen (processes/caller/silence.ts).
 */
import { setImmediate as turn } from 'node:timers/promises';

type Tell = (busy: boolean) => void;

const listeners = new Set<Tell>();
let works = 0;

/** Calls `tell` when announced work begins and when none is left; at once if some is going on. */
export function onAnnounced(tell: Tell): void {
  listeners.add(tell);
  if (works > 0) tell(true);
}

/** Stops `onAnnounced`. */
export const offAnnounced = (tell: Tell): boolean => listeners.delete(tell);

function change(by: 1 | -1): void {
  const before = works > 0;
  works += by;
  if (works > 0 !== before) for (const tell of listeners) tell(works > 0);
}

/** Does the work once it is announced: the loop turns before, so that the announcement is written. Errors: the work's. */
export async function announced<T>(work: () => T | Promise<T>): Promise<T> {
  change(1);
  try {
    if (listeners.size > 0) await turn();
    return await work();
  } finally {
    change(-1);
  }
}
