/**
 * Work that runs in a child process, seen from the caller. A job is a duplex stream: values go in,
 * values come out. The kernel in `processes/` runs it across a socket with credit in bytes both ways.
 */

/** Anything MessagePack carries. Binary comes back as a `Uint8Array` that the receiver owns. */
export type JobValue = unknown;

/** Whose work it is: what fair admission goes by (contracts/admission). */
export interface JobOwner {
  /** Distinguishes workspaces without revealing anything about them: no id, no name, no key. */
  readonly workspaceTag: string;
  /** Whether somebody hears or speaks while it is done: a call, a socket. Absent: no, it is batch work. */
  readonly isLive?: boolean;
}

/** The owner of the gateway's own work, and of work whose owner is not known. */
export const NOBODY: JobOwner = { workspaceTag: '' };

export interface JobContext {
  /** Aborted when the caller has cancelled or gone. Handlers check it after each chunk of work. */
  readonly signal: AbortSignal;
}

/** The child's side of a job. A thrown `ServiceError` reaches the caller; anything else becomes `engine_failed`. */
export type JobHandler = (
  args: never,
  input: AsyncIterable<JobValue>,
  context: JobContext,
) => AsyncIterable<JobValue>;

export type JobHandlers = Readonly<Record<string, JobHandler>>;

export interface JobRunner {
  /**
   * Starts a job and yields what it sends. Leaving the loop, or an abort of `signal`, cancels it.
   * Errors: the handler's `ServiceError`; `engine_lost` when the child dies; `engine_busy` when its queue is full of the owner's jobs.
   */
  runJob(
    job: string,
    args: unknown,
    options: {
      readonly input?: AsyncIterable<JobValue>;
      readonly signal: AbortSignal;
      /** Default NOBODY. */
      readonly owner?: JobOwner;
    },
  ): AsyncIterable<JobValue>;
}
