/**
 * Plays scenarios from the queue of tests, a few at a time, and renews their leases meanwhile: a row that is not ours any
 * more was cancelled, or taken over because this process seemed dead. Looks for scenarios when some were added, when one
 * has ended, and now and then, for those of a process that has died.
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { QueuedTest, TestOutcome, TestQueue } from '../../../contracts/ports/agents/agent-tests.js';
import { TEST_MODES, type TestMode } from '../../../contracts/schemas/agent-tests.js';
import { Poller } from '../../../contracts/time/poller.js';
import { play, type PlayParts } from './play.js';

export interface AgentTestsParts extends PlayParts {
  readonly queue: TestQueue;
}

const LOOK_MS = 5000;
const { leaseMs: LEASE_MS, atOnce, voice } = LIMITS.agentTest;
/** Allows three renewals before the lease ends. */
const RENEW_MS = LEASE_MS / 4;

const STOPPED: TestOutcome = {
  status: 'error',
  error: 'The gateway stopped before the call was over',
  endedBy: null,
  checks: [],
  usage: null,
  items: [],
  call: null,
};

const stopped = new Error('this process stops');
const taken = new Error('the scenario was cancelled');

class AgentTests {
  readonly #end = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Running scenarios by voice. */
  #calls = 0;
  readonly #poller: Poller;
  #unlisten = (): void => undefined;

  constructor(private readonly parts: AgentTestsParts) {
    const { clock, log } = parts;
    this.#poller = new Poller({
      clock,
      ms: LOOK_MS,
      poll: () => this.#takeDue(),
      failed: (error) => log.warn({ err: error }, 'the queue of tests could not be read'),
    });
  }

  async start(): Promise<void> {
    this.#unlisten = await this.parts.queue.onQueued(() => this.#poller.poll());
    this.#poller.poll();
  }

  /** Takes no more scenarios, and releases the running ones. Never rejects; idempotent. */
  async stop(): Promise<void> {
    this.#end.abort(stopped);
    this.#unlisten();
    await this.#poller.stop();
    await Promise.all(this.#running);
  }

  get #stopping(): boolean {
    return this.#end.signal.aborted;
  }

  async #takeDue(): Promise<void> {
    while (this.#running.size < atOnce.process && !this.#stopping) {
      const test = await this.parts.queue.take(LEASE_MS, this.#modes);
      if (!test) return;
      this.#begin(test);
    }
  }

  /** Modes of scenarios that may begin here now. */
  get #modes(): readonly TestMode[] {
    // A gateway without calls takes voice scenarios too, to report that it cannot play them.
    return this.#calls < voice.atOnce || !this.parts.voice ? TEST_MODES : ['text'];
  }

  #begin(test: QueuedTest): void {
    const isCall = test.definition.mode === 'voice';
    if (isCall) this.#calls += 1;
    const playing = this.#play(test)
      .catch((error: unknown) =>
        this.parts.log.warn({ err: error, run: test.runId }, 'the result of a scenario was not kept'),
      )
      .finally(() => {
        if (isCall) this.#calls -= 1;
        this.#running.delete(playing);
        this.#poller.poll();
      });
    this.#running.add(playing);
  }

  async #play(test: QueuedTest): Promise<void> {
    const { queue } = this.parts;
    const mine = new AbortController();
    const stopRenewing = this.#renew(test, mine);
    const signal = AbortSignal.any([this.#end.signal, mine.signal]);
    try {
      await queue.finish(test, await play(test, this.parts, signal));
    } catch (error) {
      if (error === taken) return;
      if (!this.#stopping) throw error;
      // A call cannot continue on another process.
      if (test.definition.mode === 'voice') await queue.finish(test, STOPPED);
      else await queue.release(test);
    } finally {
      stopRenewing();
    }
  }

  /** Renews the lease until stopped. Retries database failures while the lease lasts. */
  #renew(test: QueuedTest, mine: AbortController): () => void {
    const { queue, clock, log } = this.parts;
    let stop = (): void => undefined;
    let over = false;
    const renew = async (): Promise<void> => {
      const ours = await queue.renew(test, LEASE_MS).catch((error: unknown) => {
        log.warn({ err: error, run: test.runId }, 'a scenario could not be renewed');
        return true;
      });
      if (!ours) mine.abort(taken);
      else if (!over) stop = clock.after(RENEW_MS, () => void renew());
    };
    stop = clock.after(RENEW_MS, () => void renew());
    return () => {
      over = true;
      stop();
    };
  }
}

export async function startAgentTests(parts: AgentTestsParts): Promise<{ stop(): Promise<void> }> {
  const tests = new AgentTests(parts);
  await tests.start();
  return tests;
}
