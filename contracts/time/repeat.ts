/** Upkeep: work that is done at once and then repeatedly. */
import type { Clock } from '../clock.js';

/**
 * Runs `work` now, and again `ms` after it has ended. Calls `failed` if it rejects. The result stops it: later failures,
 * most likely because other parts have ended too, are not reported.
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
