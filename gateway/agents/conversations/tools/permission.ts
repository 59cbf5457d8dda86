/**
 * What tools have to do with the conversation's machine: it says when they may begin (actors/agent/effects.ts), as some wait until
 * the user has fallen silent, and is told of those that run.
 */
import type { Act } from '../../../../actors/agent/effects.js';
import type { AgentEvent } from '../../../../actors/agent/events.js';

interface Asked {
  readonly job: number;
  answer(may: boolean): void;
}

export class ToolPermission {
  readonly #asked = new Set<Asked>();

  constructor(
    /** Number of the running job. */
    private readonly job: () => number,
    /** Tells the machine. */
    private readonly tell: (event: AgentEvent) => void,
  ) {}

  /** Resolves to false if they must not begin: the user has spoken since, or `signal` was aborted as the job was cancelled. */
  ask(acts: readonly Act[], signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    const job = this.job();
    return new Promise((resolve) => {
      const left = (): void => asked.answer(false);
      const asked: Asked = {
        job,
        answer: (may) => {
          signal.removeEventListener('abort', left);
          this.#asked.delete(asked);
          resolve(may);
        },
      };
      this.#asked.add(asked);
      signal.addEventListener('abort', left);
      this.tell({ type: 'wants', job, acts });
    });
  }

  /** The machine has decided for all tools of that job that wait. */
  decide(job: number, may: boolean): void {
    for (const asked of this.#asked) if (asked.job === job) asked.answer(may);
  }

  /** Tools start, whose actions cannot be undone. The result reports that all of them have answered. */
  acted(): () => void {
    const job = this.job();
    this.tell({ type: 'acted', job });
    return () => this.tell({ type: 'returned', job });
  }
}
