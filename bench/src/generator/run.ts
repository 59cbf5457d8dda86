/** A load on one client: when each request is sent, and what is kept of each until the load is over. */
import { type Client, failureOf, type Verdict } from '../clients/client.js';
import { instants } from '../arrivals.js';
import { type Clock, systemClock, until } from './pace.js';
import type { Load, Outcome, Progress } from './protocol.js';

interface Attempt {
  /** `clock.now()` at which it was due, and at which it was sent. */
  readonly due: number;
  readonly sent: number;
  judge: () => Verdict;
}

export interface RunOptions {
  readonly deadline: number;
  readonly clock?: Clock;
  readonly onProgress?: (progress: Progress) => void;
}

/** More requests at once than this are not sent: the server has long been overrun. */
const MOST_AT_ONCE = 5000;
const OVERRUN = `not sent: ${MOST_AT_ONCE} are under way`;

class Run {
  readonly attempts: Attempt[] = [];
  readonly #under = new Set<Promise<void>>();
  #ended = 0;

  constructor(
    private readonly client: Client,
    private readonly deadline: number,
    readonly clock: Clock,
  ) {}

  get progress(): Progress {
    return { begun: this.attempts.length, ended: this.#ended };
  }

  /** Resolves with the answer; rejects never. */
  send(due: number): Promise<void> {
    const attempt: Attempt = { due, sent: this.clock.now(), judge: () => ({ failure: OVERRUN }) };
    const index = this.attempts.push(attempt) - 1;
    if (this.#under.size >= MOST_AT_ONCE) return Promise.resolve();
    const sending = this.client.perform(index, AbortSignal.timeout(this.deadline)).then(
      (judge) => void (attempt.judge = judge),
      (error: unknown) => void (attempt.judge = () => ({ failure: failureOf(error) })),
    );
    const ended = sending.then(() => {
      this.#under.delete(ended);
      this.#ended += 1;
    });
    this.#under.add(ended);
    return ended;
  }

  settled(): Promise<unknown> {
    return Promise.all(this.#under);
  }
}

async function runLoad(run: Run, load: Load, start: number): Promise<void> {
  const { clock } = run;
  if ('arrivals' in load) {
    for (const instant of instants(load.arrivals)) {
      await until(start + instant, clock);
      void run.send(start + instant);
    }
    await run.settled();
    return;
  }
  const goesOn = (): boolean =>
    'requests' in load ? run.attempts.length < load.requests : clock.now() - start < load.seconds * 1000;
  const worker = async (): Promise<void> => {
    while (goesOn()) await run.send(clock.now());
  };
  await Promise.all(Array.from({ length: load.concurrency }, worker));
}

const PROGRESS_MS = 500;

/**
 * Notices which connections of the last load have been closed: a request that is sent on one fails. A process that was held up
 * reads its messages first. The second turn of the event loop has polled every socket.
 */
async function noticeClosed(clock: Clock): Promise<void> {
  await clock.turn();
  await clock.turn();
}

/** Sends the load and judges what came back. */
export async function runRequests(client: Client, load: Load, options: RunOptions): Promise<Outcome> {
  const { deadline, clock = systemClock, onProgress } = options;
  const run = new Run(client, deadline, clock);
  await client.open?.();
  await noticeClosed(clock);
  const timer = onProgress && setInterval(() => onProgress(run.progress), PROGRESS_MS);
  const cpu = process.cpuUsage();
  const start = clock.now();
  await runLoad(run, load, start);
  const seconds = (clock.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(timer);
  const judgement = judged(run.attempts, start);
  const lateness = 'arrivals' in load ? judgement.lateness : new Float64Array();
  return { ...judgement, lateness, seconds, cpu: (user + system) / 1e6 / seconds };
}

function judged(attempts: readonly Attempt[], start: number): Omit<Outcome, 'seconds' | 'cpu'> {
  const readings: Record<string, Float64Array> = {};
  const failures: Record<string, number> = {};
  const put = (name: string, index: number, value: number): void => {
    readings[name] ??= new Float64Array(attempts.length).fill(Number.NaN);
    readings[name][index] = value;
  };
  attempts.forEach(({ due, judge }, index) => {
    const verdict = judge();
    if ('failure' in verdict) {
      failures[verdict.failure] = (failures[verdict.failure] ?? 0) + 1;
      return;
    }
    for (const [name, at] of Object.entries(verdict.instants)) put(name, index, at - due);
    for (const [name, value] of Object.entries(verdict.values ?? {})) put(name, index, value);
  });
  return {
    due: Float64Array.from(attempts, ({ due }) => due - start),
    lateness: Float64Array.from(attempts, ({ due, sent }) => sent - due),
    readings,
    failures,
  };
}
