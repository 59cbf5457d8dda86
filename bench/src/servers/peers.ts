/** Products that the load tests compare with, while they start. */
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_MS = 50;

/** Whether something answers there, whatever it says. */
export const answers = (origin: string): Promise<boolean> =>
  fetch(origin).then(
    ({ body }) => body?.cancel().then(() => true) ?? true,
    () => false,
  );

/** Waits until it does. Throws Error once it has `failed`, or takes longer. */
export async function untilReady(
  name: string,
  isReady: () => Promise<boolean>,
  hasEnded: () => boolean,
  withinMs: number,
): Promise<void> {
  for (const deadline = performance.now() + withinMs; !(await isReady()); await pause(LOOK_MS))
    if (hasEnded() || performance.now() > deadline) throw new Error(`${name} does not start`);
}
