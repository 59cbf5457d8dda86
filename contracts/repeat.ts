/** Work that is done now and every so often. */
import type { Clock } from './clock.js';

/** Every `ms` after it has ended, until the result is called; what fails is told and tried again. */
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
