/**
 * Ends a child process with its supervisor, which holds the other end of the child's standard input. Anything that is
 * written there asks the child to leave, and lets running jobs end for a while (`HURRY`: for less); when it closes, for whatever reason
 * (SIGKILL too), the child leaves at once. (parent-watch.ts is for a process whose parent knows nothing of this.)
 *
 * SIGTERM, SIGINT and SIGHUP are ignored: they reach the whole group (systemd, `timeout`, ctrl-C, a terminal that is closed), and the supervisor, which
 * gets them as well, lets what runs come to its end before it lets go of its children. A child that is stuck in
 * synchronous work sees nothing of this: the next supervisor sweeps it away (sweep.ts).
 */
import { ABORT_MS, type JobServer } from './serve-jobs.js';

export interface SupervisorWatchOptions {
  /** How long running jobs may go on once the child is asked to leave. Default 2 s. */
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

/** Leaves with the supervisor, or when the server has retired. Call it as soon as the server listens. */
export function watchSupervisor(
  server: Pick<JobServer, 'close' | 'retired'>,
  options: SupervisorWatchOptions = {},
): void {
  const graceMs = options.graceMs ?? DEFAULT_GRACE_MS;
  const leave = leaving(server, options.beforeLeaving ?? (() => Promise.resolve()));
  void server.retired.then(() => process.exit(0));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.stdin.setEncoding('utf8').on('data', (lines: string) => {
    leave(graceMs);
    if (lines.includes(HURRY)) options.hurry?.();
  });
  for (const event of ['end', 'close', 'error']) process.stdin.on(event, () => leave(0));
  // Writing fails where the supervisor, who reads our output, has gone.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  process.stdin.resume();
}

/** Leaves within the grace of the call. The supervisor may go while the child drains: the earlier end counts. */
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

/** Runs `beforeLeaving`, unless there is no grace to run it in. Never rejects. */
const drained = (graceMs: number, beforeLeaving: () => Promise<unknown>): Promise<unknown> =>
  graceMs > 0 ? beforeLeaving().catch((error: unknown) => console.error(error)) : Promise.resolve();
