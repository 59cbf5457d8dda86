/**
 * The model of ends of turns, seen from the gateway: it runs in a `turns` child.
 *
 * Invariants: an answer that takes too long is cancelled, also in the child; no failure reaches a conversation, which
 * then uses its tables; a failure is logged if it is the first, or the first since an answer.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import { type JobOwner, type JobRunner, NOBODY } from '../../contracts/ports/jobs.js';
import type { TurnModel } from '../../contracts/ports/speech/turns.js';
import { ownerOf } from '../../processes/job-owner.js';
import { lastOf, MOST_BYTES, TURN_JOB } from './jobs.js';

/** Longest useful wait: later, the turn has ended or its words have decided. */
export const WITHIN_MS = 1000;

/** Number of requests to the model by outcome. `dropped`: the speaker went on. */
export type TurnAnswers = Record<'known' | 'late' | 'busy' | 'failed' | 'dropped', number>;

async function* valuesOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

export class TurnModelInChild implements TurnModel {
  readonly answers: TurnAnswers = { known: 0, late: 0, busy: 0, failed: 0, dropped: 0 };
  #fails = false;

  constructor(
    private readonly runner: JobRunner,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  prepare(): void {
    this.#ask([], NOBODY, new AbortController().signal).catch((error: unknown) => this.#failed(error));
  }

  async probability(
    chunks: readonly Uint8Array[],
    workspaceId: string,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const owner = ownerOf({ workspaceId, isLive: true });
    const late = new AbortController();
    const cancel = this.clock.after(WITHIN_MS, () => late.abort());
    try {
      const probability = await this.#ask(chunks, owner, AbortSignal.any([signal, late.signal]));
      if (probability !== undefined) this.#known();
      return probability;
    } catch (error) {
      if (signal.aborted) this.answers.dropped += 1;
      else if (late.signal.aborted) this.answers.late += 1;
      else if (error instanceof ServiceError && error.code === 'engine_busy') this.answers.busy += 1;
      else this.#failed(error);
      return undefined;
    } finally {
      cancel();
    }
  }

  async #ask(chunks: readonly Uint8Array[], owner: JobOwner, signal: AbortSignal) {
    const input = valuesOf(lastOf(chunks, MOST_BYTES));
    for await (const value of this.runner.runJob(TURN_JOB, null, { input, owner, signal }))
      return value as number;
    return undefined;
  }

  #known(): void {
    this.answers.known += 1;
    this.#fails = false;
  }

  #failed(error: unknown): void {
    this.answers.failed += 1;
    if (!this.#fails) this.log.warn({ err: error }, 'the model of ends of turns failed: the tables decide');
    this.#fails = true;
  }
}
