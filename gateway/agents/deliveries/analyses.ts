/**
 * Analyses ended conversations, a few at a time. One that this process does not finish goes to another process when its
 * lease ends.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { Log } from '../../../contracts/log.js';
import type { ChatModel } from '../../../contracts/ports/chat.js';
import type { AnalysedSession, AnalysisQueue } from '../../../contracts/ports/sessions/sessions.js';
import {
  type ForWhom,
  type Keeper,
  noKeeper,
  type Part,
  partOfAccount,
} from '../../../contracts/ports/parts.js';
import { Poller } from '../../../contracts/time/poller.js';
import { analyse, failedAnalysis } from './analysis.js';

export interface AnalysesParts {
  readonly queue: AnalysisQueue;
  /** The model that is asked about a session: the agent's own, else the gateway's; undefined if there is none. */
  chatOf(session: AnalysedSession): ChatModel | undefined;
  readonly keeper?: Keeper;
  readonly clock: Clock;
  readonly log: Log;
}

const AT_ONCE = 4;
const LOOK_MS = 1000;
const LONGEST_MS = 120_000;
const LEASE_MS = LONGEST_MS + 30_000;

/** It has no address of its own: the language model is asked. */
const PART: Part = { kind: 'analysis', name: 'analysis', settings: { address: 'LLM_MODEL' } };

/** An agent's own model is no part of the operator's. */
const partOf = ({ plan }: AnalysedSession): Part => {
  const { custom } = plan.config.llm;
  return custom ? partOfAccount('analysis', custom.base_url) : PART;
};

const whomOfSession = ({ record: { id: sessionId, agentId, workspaceId } }: AnalysedSession): ForWhom => ({
  sessionId,
  agentId,
  workspaceId,
});

/** The language model is a part of its own, with a line that says more. */
const faultOf = (error: unknown): Error | undefined =>
  error === undefined || error instanceof SyntaxError ? error : new Error('the language model failed');

const late = new Error('the analysis took too long');

class AnalysisLoop {
  readonly #end = new AbortController();
  readonly #stopping = this.#end.signal;
  readonly #running = new Set<Promise<void>>();
  readonly #poller: Poller;

  constructor(private readonly parts: AnalysesParts) {
    const { clock, log } = parts;
    this.#poller = new Poller({
      clock,
      ms: LOOK_MS,
      poll: () => this.#takeDue(),
      failed: (error) => log.warn({ err: error }, 'ended sessions could not be read'),
    });
    this.#poller.poll();
  }

  async stop(): Promise<void> {
    this.#end.abort(new Error('this process stops'));
    await this.#poller.stop();
    await Promise.all(this.#running);
  }

  async #takeDue(): Promise<void> {
    while (this.#running.size < AT_ONCE && !this.#stopping.aborted) {
      const session = await this.parts.queue.take(LEASE_MS);
      // One that is taken while this process stops goes to another when its lease ends.
      if (!session || this.#stopping.aborted) return;
      this.#begin(session);
    }
  }

  #begin(session: AnalysedSession): void {
    const working = this.#work(session)
      .catch((error: unknown) => {
        if (!this.#stopping.aborted)
          this.parts.log.warn({ err: error, session: session.record.id }, 'an analysis was not finished');
      })
      .finally(() => this.#running.delete(working));
    this.#running.add(working);
  }

  async #work(session: AnalysedSession): Promise<void> {
    const { queue, keeper = noKeeper, clock } = this.parts;
    const chat = this.parts.chatOf(session);
    const whom = whomOfSession(session);
    const question = keeper.ask(partOf(session), whom);
    const ending = new AbortController();
    const leave = (): void => ending.abort(this.#stopping.reason);
    const cancelTimer = clock.after(LONGEST_MS, () => ending.abort(late));
    this.#stopping.addEventListener('abort', leave);
    try {
      let fault: unknown;
      const noteFault = (error: unknown): void => void (fault = error);
      const asking = analyse({ ...session, whom }, chat, ending.signal, noteFault);
      const analysis = await asking.catch((error: unknown) => {
        if (error !== late) throw error;
        question.ended(new ServiceError('first_byte_timeout'));
        return failedAnalysis('The language model took too long');
      });
      if (analysis.status !== 'skipped') question.ended(faultOf(fault));
      await queue.finish(session.record.id, analysis);
    } finally {
      cancelTimer();
      this.#stopping.removeEventListener('abort', leave);
    }
  }
}

export const startAnalyses = (parts: AnalysesParts): { stop(): Promise<void> } => new AnalysisLoop(parts);
