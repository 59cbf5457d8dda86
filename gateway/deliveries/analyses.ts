/**
 * Analyses what has ended, a few conversations at a time. A conversation that this process does not finish in time, or
 * leaves behind, is taken up by another when its lease ends.
 */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import type { ChatModel } from '../../contracts/ports/chat.js';
import type { AnalysisQueue } from '../../contracts/ports/sessions.js';
import { analyse, type AnalysedSession, failedAnalysis } from './analysis.js';

export interface AnalysesParts {
  readonly queue: AnalysisQueue;
  /** Absent where none can do it. */
  readonly chat?: ChatModel;
  readonly clock: Clock;
  readonly log: Log;
}

const AT_ONCE = 4;
const LOOK_MS = 1000;
const LONGEST_MS = 120_000;
const LEASE_MS = LONGEST_MS + 30_000;

const late = new Error('the analysis took too long');

export function startAnalyses({ queue, chat, clock, log }: AnalysesParts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let cancel = (): void => undefined;
  let looking = Promise.resolve();

  async function work(session: AnalysedSession): Promise<void> {
    const ending = new AbortController();
    const leave = (): void => ending.abort(stopping.signal.reason);
    const cancelTimer = clock.after(LONGEST_MS, () => ending.abort(late));
    stopping.signal.addEventListener('abort', leave);
    try {
      const analysis = await analyse(session, chat, ending.signal).catch((error: unknown) => {
        if (error === late) return failedAnalysis('The language model took too long');
        throw error;
      });
      await queue.finish(session.record.id, analysis);
    } finally {
      cancelTimer();
      stopping.signal.removeEventListener('abort', leave);
    }
  }

  function begin(session: AnalysedSession): void {
    const working = work(session)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted)
          log.warn({ err: error, session: session.record.id }, 'an analysis was not finished');
      })
      .finally(() => running.delete(working));
    running.add(working);
  }

  async function takeDue(): Promise<void> {
    while (running.size < AT_ONCE && !stopping.signal.aborted) {
      const session = await queue.take(LEASE_MS);
      if (!session) return;
      begin(session);
    }
  }

  function look(): void {
    looking = takeDue()
      .catch((error: unknown) => log.warn({ err: error }, 'ended sessions could not be read'))
      .finally(() => {
        if (!stopping.signal.aborted) cancel = clock.after(LOOK_MS, look);
      });
  }

  look();
  return {
    async stop() {
      stopping.abort(new Error('this process stops'));
      cancel();
      await looking;
      await Promise.all(running);
    },
  };
}
