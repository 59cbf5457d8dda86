/**
 * Ends a child process with its supervisor, which holds the other end of the child's standard input. Anything that is
 * written there asks the child to leave, and gives running jobs some time to end (`HURRY`: less); when it closes, for any
 * reason (SIGKILL of the supervisor too), the child leaves at once. A process whose parent does not take part in this
 * watches it as processes/supervisor/parent-watch.ts does.
 *
 * SIGTERM, SIGINT and SIGHUP are ignored: they reach the whole group (systemd, `timeout`, ctrl-C, a terminal that is closed),
 * and the supervisor, which gets them too, lets running work end before it asks its children to leave. A child that is stuck
 * in synchronous work notices none of this: the next supervisor kills it (processes/supervisor/sweep.ts).
 */
import { ABORT_MS, type JobServer } from './serve-jobs.js';

export interface SupervisorWatchOptions {
  /** How long running jobs may continue once the child is asked to leave. Default 2 s. */
  readonly graceMs?: number;
  /** Called then; the server waits for it before it closes, at most `graceMs`. */
  beforeLeaving?(): Promise<unknown>;
  /** Called if the supervisor wants the child to leave sooner. */
  hurry?(): void;
}

const DEFAULT_GRACE_MS = 2000;

/** The lines that the supervisor writes: to ask a child to leave, and to hurry one that leaves. */
export const LEAVE = 'leave\n';
export const HURRY = 'hurry\n';

/** Begins the line on standard error by which a child says why it cannot start. */
export const REFUSAL = 'cannot start: ';

/** Signals to a whole group, which the supervisor gets as well: it decides when its children leave. */
const SIGNALS = ['SIGTERM', 'SIGQUIT', 'SIGINT', 'SIGHUP'] as const;

/** Leaves with the supervisor, or when the server has retired. Call it as soon as the server listens. */
export function watchSupervisor(
  server: Pick<JobServer, 'close' | 'retired'>,
  options: SupervisorWatchOptions = {},
): void {
  const graceMs = options.graceMs ?? DEFAULT_GRACE_MS;
  const leave = leaving(server, options.beforeLeaving ?? (() => Promise.resolve()));
  void server.retired.then(() => process.exit(0));
  for (const signal of SIGNALS) process.on(signal, () => undefined);
  process.stdin.setEncoding('utf8').on('data', (lines: string) => {
    leave(graceMs);
    if (lines.includes(HURRY)) options.hurry?.();
  });
  for (const event of ['end', 'close', 'error']) process.stdin.on(event, () => leave(0));
  // Writing fails if the supervisor, which reads the output, has ended.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  process.stdin.resume();
}

/** Returns the function that leaves within a grace. The supervisor may end while the child drains: the earlier deadline counts. */
function leaving(
  server: Pick<JobServer, 'close'>,
  beforeLeaving: () => Promise<unknown>,
): (graceMs: number) => void {
  let leavesAt = Infinity;
  return (graceMs) => {
    const deadline = performance.now() + graceMs + 3 * ABORT_MS;
    if (deadline >= leavesAt) return;
    leavesAt = deadline;
    setTimeout(() => process.exit(0), graceMs + 3 * ABORT_MS).unref();
    void drained(graceMs, beforeLeaving).then(() => server.close(graceMs).finally(() => process.exit(0)));
  };
}

/** Runs `beforeLeaving`, unless there is no grace. Never rejects. */
const drained = (graceMs: number, beforeLeaving: () => Promise<unknown>): Promise<unknown> =>
  graceMs > 0 ? beforeLeaving().catch((error: unknown) => console.error(error)) : Promise.resolve();
