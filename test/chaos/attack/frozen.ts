/** X11: each kind of child is stopped in turn. It is replaced within eight seconds, and only what it did itself suffers. */
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive } from '../../fixtures/processes/family.js';
import { speak } from './speak.js';
import type { Victim } from './victim.js';
import { partsOf, type Target } from './target.js';

/** From SIGSTOP to another process of that kind. */
const REPLACED_MS = 8000;
const LOOK_MS = 100;
/** How long a victim goes on after the replacement. */
const AFTER_MS = 3000;
/** How requests end that were with the stopped process. */
const ENDS: readonly (number | string)[] = [200, 503, 'ECONNRESET'];

export interface Outcome {
  readonly name: string;
  readonly figures: string;
  readonly faults: readonly string[];
}

/** Milliseconds until the process has gone, and as many of its kind run as before. */
async function replaced(target: Target, part: string, victim: number): Promise<number> {
  const from = performance.now();
  const before = partsOf(target).get(part)?.length ?? 0;
  process.kill(victim, 'SIGSTOP');
  const waits = (): boolean => isAlive(victim) || (partsOf(target).get(part)?.length ?? 0) < before;
  while (waits() && performance.now() - from < 5 * REPLACED_MS) await pause(LOOK_MS);
  return performance.now() - from;
}

async function freeze(target: Target, victim: Victim, part: string, pid: number): Promise<Outcome> {
  const { result: ms, asked } = await victim.beside(async () => {
    const took = await replaced(target, part, pid);
    await pause(AFTER_MS);
    return took;
  });
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  const wrong = asked.filter(({ told }) => !ENDS.includes(told));
  const failed = asked.filter(({ told }) => told !== 200).length;
  const after = await speak(target.base, target.victim);
  return {
    name: `X11 stopped: ${part}`,
    figures: `replaced after ${(ms / 1000).toFixed(1)} s; ${failed} of ${asked.length} requests failed`,
    faults: [
      ...(ms > REPLACED_MS ? [`not replaced within ${REPLACED_MS / 1000} s`] : []),
      ...wrong.map(({ told }) => `a request ended with ${told}`),
      ...(after.told === 200 ? [] : [`and afterwards with ${after.told}`]),
    ],
  };
}

/** Stops one process of each kind, one after the other. */
export async function freezeEach(
  target: Target,
  victim: Victim,
  tell: (outcome: Outcome) => void,
): Promise<void> {
  for (const [part, [pid]] of partsOf(target))
    if (pid !== undefined) tell(await freeze(target, victim, part, pid));
}
