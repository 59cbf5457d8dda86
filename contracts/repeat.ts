/** Upkeep: work that is done at once and then again and again. */
import type { Clock } from './clock.js';

/**
 * Runs `work` now, and again `ms` after it has ended. `failed` is called where it rejects; the result ends it all: what
 * fails behind that, most likely because others have ended too, is told to nobody.
 */
export function repeat(
  clock: Clock,
  ms: number,
  work: () => Promise<unknown>,
  failed: (error: unknown) => void,
): () => void {
  let stopped = false;
  let cancel = (): void => undefined;
  const next = async (): Promise<void> => {
    await work().catch((error: unknown) => {
      if (!stopped) failed(error);
    });
    if (!stopped) cancel = clock.after(ms, () => void next());
  };
  void next();
  return () => {
    stopped = true;
    cancel();
  };
}
