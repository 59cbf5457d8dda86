/** The life of a worker entry in one call: its place from the command line, its jobs, its watch on the supervisor. */
import { serveJobs, type JobServer, type ServeOptions } from './serve-jobs.js';
import { restartsIn } from '../restarts.js';
import { indexOf } from '../channel/socket-path.js';
import { REFUSAL, type SupervisorWatchOptions, watchSupervisor } from './supervisor-watch.js';

/** A child's command line behind the entry: role, socket, then the role's own arguments. */
export interface ChildPlace {
  readonly role: string;
  readonly socketPath: string;
  /** Its number among the children of its role, from 0. */
  readonly index: number;
  readonly args: readonly string[];
}

/** Reads this child's command line. Throws if it was not started by a supervisor. */
export function childPlace(argv: readonly string[] = process.argv): ChildPlace {
  const [, , role, socketPath, ...args] = argv;
  if (role !== undefined && socketPath !== undefined)
    return { role, socketPath, index: indexOf(socketPath), args };
  throw new Error('A worker is started by the gateway, not by hand');
}

/** Serves jobs on this child's socket until the supervisor stops it or is gone. */
export async function serveAsChild(
  options: Omit<ServeOptions, 'socketPath' | 'restarts'> & SupervisorWatchOptions,
): Promise<JobServer> {
  const restarts = restartsIn(process.env);
  const server = await serveJobs({ ...options, restarts, socketPath: childPlace().socketPath });
  watchSupervisor(server, options);
  return server;
}

/** Ends this child, which cannot start. Its supervisor is told the first line of `reason`; the others go to the log. */
export function refuseStart(reason: string): never {
  // Past the log of a child that has one: its supervisor looks for this line.
  process.stderr.write(`${REFUSAL}${reason}\n`);
  process.exit(1);
}
