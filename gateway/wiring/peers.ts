/** The other gateway processes of a machine (WORKERS), asked over their Unix sockets. */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { waitUpTo } from '../../contracts/time/timeouts.js';
import { createPool, type Pool } from '../../processes/caller/pool.js';

/** Long enough for a process that is just restarting. */
const WAIT_MS = 2000;

/** Jobs cannot be left without being cancelled, so a late one ends by itself. */
async function ask<Told>(pool: Pool, job: string): Promise<Told> {
  for await (const answer of pool.runJob(job, null, { signal: new AbortController().signal }))
    return JSON.parse(answer as string) as Told;
  throw new Error('a gateway process told nothing');
}

export class Peers {
  readonly #pools: readonly Pool[];

  constructor(
    sockets: readonly string[],
    private readonly clock: Clock,
    log: Log,
  ) {
    this.#pools = sockets.map((socket) => createPool({ sockets: [socket], log, waitMs: WAIT_MS }));
  }

  get isEmpty(): boolean {
    return this.#pools.length === 0;
  }

  /** The answers of those that came in time; `failed` is called for each of the others that says why. */
  async told<Told>(job: string, failed: (error: unknown) => void): Promise<readonly Told[]> {
    const answers = this.#pools.map((pool) =>
      waitUpTo(
        this.clock,
        WAIT_MS,
        ask<Told>(pool, job).catch((error: unknown): undefined => void failed(error)),
      ),
    );
    return (await Promise.all(answers)).filter((told) => told !== undefined) as Told[];
  }

  close(): void {
    for (const pool of this.#pools) pool.close();
  }
}
