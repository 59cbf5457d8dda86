/** The body of a reply as the exchange sends it: in one piece, or as a stream that is read as its client reads. */
import type { Reply } from './port.js';
import type { replyHead } from './reply-head.js';

export type Chunk = string | Uint8Array;

/** A client that reads nothing of its reply for this long counts as gone. */
export const STALL_MS = 5 * 60 * 1000;
/** How long a client has to read the last event of a stream that is broken off. */
export const FAREWELL_MS = 15_000;
/** Statuses of replies without a body. */
export const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Nobody waits for the reply any more. */
export class ClientLeft extends Error {}

export const isStream = (body: Reply['body']): body is AsyncIterable<Chunk> =>
  typeof body === 'object' && Symbol.asyncIterator in body;

/** Abandons a stream that nobody will read. */
export function abandon(iterator: AsyncIterator<Chunk>): void {
  // Errors during its clean-up concern nobody any more.
  iterator.return?.().catch(() => undefined);
}

/** The first chunk that is not empty. */
export async function firstChunk(iterator: AsyncIterator<Chunk>): Promise<IteratorResult<Chunk>> {
  for (;;) {
    const step = await iterator.next();
    if (step.done || step.value.length > 0) return step;
  }
}

export const isEventStream = (head: ReturnType<typeof replyHead>): boolean =>
  head.headers.some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'),
  );

/** Bytes; undefined if only its end will tell. */
export function lengthOf(body: Reply['body']): number | undefined {
  if (isStream(body)) return undefined;
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.byteLength ?? 0);
}

export function discardReply(reply: Reply): void {
  if (isStream(reply.body)) abandon(reply.body[Symbol.asyncIterator]());
}
