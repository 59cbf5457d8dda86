/**
 * How often a child was started again, and why. Its supervisor alone knows; it tells each new child in its environment, and the child tells
 * its callers in its hello, so that every gateway process has the same figures.
 */
import { isCount } from './channel/frames.js';

export const RESTART_CAUSES = [
  /** It ended by itself. */
  'exited',
  /** By a signal that was not the supervisor's. */
  'killed',
  /** By the kernel, for lack of memory. */
  'memory',
  /** It said nothing, and was replaced. */
  'frozen',
  /** It did not become ready in time. */
  'slow',
] as const;
export type RestartCause = (typeof RESTART_CAUSES)[number];
export type Restarts = Readonly<Partial<Record<RestartCause, number>>>;

const VARIABLE = 'CHILD_RESTARTS';

export const restartsEnv = (restarts: Restarts): NodeJS.ProcessEnv => ({
  [VARIABLE]: JSON.stringify(restarts),
});

/** The counts in something that was received; everything else in it is left out. */
export function restartsOf(value: unknown): Restarts {
  const told = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const counts = RESTART_CAUSES.map((cause) => [cause, told[cause]] as const);
  return Object.fromEntries(counts.filter(([, count]) => isCount(count)));
}

/** What this child was told at its start. */
export function restartsIn(env: NodeJS.ProcessEnv): Restarts {
  try {
    return restartsOf(JSON.parse(env[VARIABLE] ?? '{}'));
  } catch {
    return {};
  }
}
