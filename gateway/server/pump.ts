/**
 * Carries the output of a job to a socket at the speed of its client: the job is read only while the client reads, so
 * that a slow client delays only its own job.
 */
import { type ServiceError, toServiceError } from '../../contracts/errors.js';
import type { Socket } from './port.js';

export type PumpEnd =
  | { readonly end: 'done' }
  | { readonly end: 'cancelled' }
  | { readonly end: 'failed'; readonly error: ServiceError };

/** Resolves when `signal` aborts; `stop` forgets it. */
function abortion(signal: AbortSignal): { readonly aborted: Promise<void>; stop(): void } {
  let resolve = (): void => undefined;
  const aborted = new Promise<void>((settle) => (resolve = settle));
  if (signal.aborted) resolve();
  signal.addEventListener('abort', resolve, { once: true });
  return { aborted, stop: () => signal.removeEventListener('abort', resolve) };
}

/** Never rejects. Nothing is sent once `signal` has aborted, whatever the job still says. */
export async function pump<Chunk>(
  chunks: AsyncIterable<Chunk>,
  socket: Pick<Socket, 'drained'>,
  signal: AbortSignal,
  send: (chunk: Chunk) => void,
): Promise<PumpEnd> {
  const { aborted, stop } = abortion(signal);
  try {
    for await (const chunk of chunks) {
      if (signal.aborted) return { end: 'cancelled' };
      send(chunk);
      // A cancelled job gives its slot back at once, whether the client reads or not.
      await Promise.race([socket.drained(), aborted]);
    }
    return { end: signal.aborted ? 'cancelled' : 'done' };
  } catch (error) {
    return signal.aborted ? { end: 'cancelled' } : { end: 'failed', error: toServiceError(error) };
  } finally {
    stop();
  }
}
