/** Upkeep: work that is done at once and then again and again. */
import type { Clock } from './clock.js';

/** Runs `work` now, and again `ms` after it has ended. `failed` is called where it rejects; the result ends it all. */
export function repeat(
  clock: Clock,
  ms: number,
  work: () => Promise<unknown>,
  failed: (error: unknown) => void,
): () => void {
  let stopped = false;
  let cancel = (): void => undefined;
  const next = async (): Promise<void> => {
    await work().catch(failed);
    if (!stopped) cancel = clock.after(ms, () => void next());
  };
  void next();
  return () => {
    stopped = true;
    cancel();
  };
}
