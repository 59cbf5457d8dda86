/** Time in calls. */
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds of a frame of sound, in both directions. */
export const FRAME_MS = 20;

const LOOK_MS = 5;

/** Waits until `probe` gives something; undefined once it has taken too long. */
export async function waitFor<T>(probe: () => T | undefined | false, ms: number): Promise<T | undefined> {
  for (const deadline = performance.now() + ms; performance.now() < deadline; await pause(LOOK_MS)) {
    const found = probe();
    if (found !== undefined && found !== false) return found;
  }
  return undefined;
}
