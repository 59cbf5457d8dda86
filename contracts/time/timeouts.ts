/** Bounded waiting for work that may be slow, silent or gone. The work itself continues; its late result is ignored. */
import type { Clock } from '../clock.js';

/** The result of `work`, or undefined if it takes longer than `ms`. Errors: those of `work` within that time. */
export function waitUpTo<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(undefined));
    work.finally(cancel).then(resolve, reject);
  });
}

const noAnswer = (ms: number): Error => new Error(`no answer in ${ms} ms`);

/** The result of `work`. Errors: those of `work`, that of `late` (`no answer in … ms`), the signal's reason. */
export async function withTimeout<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  signal?: AbortSignal,
  late: (ms: number) => Error = noAnswer,
): Promise<T> {
  signal?.throwIfAborted();
  let giveUp: (error: unknown) => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => (giveUp = reject));
  const cancel = clock.after(ms, () => giveUp(late(ms)));
  const aborted = (): void => giveUp(signal?.reason);
  signal?.addEventListener('abort', aborted);
  try {
    return await Promise.race([work, givenUp]);
  } finally {
    cancel();
    signal?.removeEventListener('abort', aborted);
  }
}
