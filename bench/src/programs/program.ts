/** Load that is no row of requests: it keeps what it opens from task to task. */
import type { Outcome } from '../generator/protocol.js';

export interface Program {
  run(params: unknown): Promise<Outcome>;
}

/** Measures a stretch of work: its length, and this process's CPU meanwhile. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number; cpu: number }> {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { result, seconds, cpu: (user + system) / 1e6 / seconds };
}

export const NOTHING = {
  due: new Float64Array(),
  lateness: new Float64Array(),
  readings: {},
  failures: {},
} as const;
