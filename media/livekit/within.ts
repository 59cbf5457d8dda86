/** Limits of time for what the native library is asked to do: it answers by an event, or never. */

export class TooLate extends Error {}

/**
 * What `work` comes to, unless `ms` pass before, or the signal aborts; `work` itself goes on.
 * Errors: those of `work`, `TooLate`, the signal's reason.
 */
export async function within<T>(ms: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  signal?.throwIfAborted();
  let giveUp: (error: unknown) => void = () => undefined;
  const late = new Promise<never>((_, reject) => (giveUp = reject));
  const timer = setTimeout(() => giveUp(new TooLate(`no answer in ${ms} ms`)), ms);
  const aborted = (): void => giveUp(signal?.reason);
  signal?.addEventListener('abort', aborted, { once: true });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', aborted);
  }
}
