/** Asks the conversation's machine when tools may begin (actors/agent/effects.ts): some wait until the user has fallen silent. */
import type { Act } from '../../../actors/agent/effects.js';

interface Asked {
  readonly job: number;
  answer(may: boolean): void;
}

export class Permission {
  readonly #asked = new Set<Asked>();

  constructor(private readonly ask: (job: number, acts: readonly Act[]) => void) {}

  /** Resolves to false if they must not begin: the user has spoken since, or `signal` was aborted as the job was cancelled. */
  of(job: number, acts: readonly Act[], signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
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
      this.ask(job, acts);
    });
  }

  /** The machine has decided for all tools of that job that wait. */
  decide(job: number, may: boolean): void {
    for (const asked of this.#asked) if (asked.job === job) asked.answer(may);
  }
}
