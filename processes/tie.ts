/**
 * Ties a child to its supervisor: it holds the other end of the child's standard input, and when that closes,
 * for whatever reason (SIGKILL too), the child leaves.
 *
 * SIGTERM lets running jobs end for a while. SIGINT is ignored, for ctrl-C reaches the whole group and the
 * supervisor decides. A child that is stuck in synchronous work sees none of these: the next supervisor
 * sweeps it away (sweep.ts).
 */
import { ABORT_MS, type JobServer } from './serve-jobs.js';

export interface TieOptions {
  /** What running jobs are given on SIGTERM. Default 2 s. */
  readonly graceMs?: number;
  /** What is to end on SIGTERM before the server does, within `graceMs`. */
  beforeLeaving?(): Promise<unknown>;
}

const DEFAULT_GRACE_MS = 2000;

/** Leaves with the supervisor, or when the server has retired. Call it as soon as the server listens. */
export function tieToSupervisor(
  server: Pick<JobServer, 'close' | 'retired'>,
  options: TieOptions = {},
): void {
  const graceMs = options.graceMs ?? DEFAULT_GRACE_MS;
  const leave = leaving(server, options.beforeLeaving ?? (() => Promise.resolve()));
  void server.retired.then(() => process.exit(0));
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => leave(graceMs));
  for (const event of ['end', 'close', 'error']) process.stdin.on(event, () => leave(0));
  // Nobody may be reading any more.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  process.stdin.resume();
}

/** The supervisor may still go while the child drains: a shorter grace then counts. */
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

/** Nothing is drained where nobody waits. Never rejects. */
const drained = (graceMs: number, beforeLeaving: () => Promise<unknown>): Promise<unknown> =>
  graceMs > 0 ? beforeLeaving().catch((error: unknown) => console.error(error)) : Promise.resolve();
