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

/**
 * Waits for the client one time after the other, until `signal` aborts. Each wait has a promise of its own: one that lasts as long as
 * the job would keep something of every wait, and settle all of it in one turn.
 */
function waits(
  socket: Pick<Socket, 'drained'>,
  signal: AbortSignal,
): { drained(): Promise<void>; stop(): void } {
  let wake = (): void => undefined;
  const aborted = (): void => wake();
  signal.addEventListener('abort', aborted, { once: true });
  const drained = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      if (signal.aborted) resolve();
      void socket.drained().then(resolve);
    });
  return { drained, stop: () => signal.removeEventListener('abort', aborted) };
}

/** Never rejects. Nothing is sent once `signal` has aborted, whatever the job still says. */
export async function pump<Chunk>(
  chunks: AsyncIterable<Chunk>,
  socket: Pick<Socket, 'drained'>,
  signal: AbortSignal,
  send: (chunk: Chunk) => void,
): Promise<PumpEnd> {
  const waiting = waits(socket, signal);
  try {
    for await (const chunk of chunks) {
      if (signal.aborted) return { end: 'cancelled' };
      send(chunk);
      // A cancelled job gives its slot back at once, whether the client reads or not.
      await waiting.drained();
    }
    return { end: signal.aborted ? 'cancelled' : 'done' };
  } catch (error) {
    return signal.aborted ? { end: 'cancelled' } : { end: 'failed', error: toServiceError(error) };
  } finally {
    waiting.stop();
  }
}
