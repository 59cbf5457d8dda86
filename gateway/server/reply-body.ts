/** The body of a reply as the exchange sends it: in one piece, or as a stream that is read as its client reads. */
import { setImmediate as nextTurn } from 'node:timers/promises';
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
async function firstChunk(iterator: AsyncIterator<Chunk>): Promise<IteratorResult<Chunk>> {
  for (;;) {
    const step = await iterator.next();
    if (step.done || step.value.length > 0) return step;
  }
}

/** A stream of so many bytes that is there at once is a reply with its length, which either stack sends in one write. */
const AT_ONCE_BYTES = 12 * 1024;

/** The beginning of a stream; `next`: what follows it, absent if nothing does. */
export interface Opening {
  readonly chunk: Chunk;
  readonly next?: Promise<IteratorResult<Chunk>> | undefined;
}

const bytesOf = (chunk: Chunk): Uint8Array => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk);

const joined = (chunks: readonly Uint8Array[]): Uint8Array =>
  chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);

/**
 * What of a stream is there within the turn of the event loop that brings its first chunk: a short one may be all there is. Of a stream of
 * events the first alone. Errors: the stream's.
 */
export async function openingOf(iterator: AsyncIterator<Chunk>, isEvents: boolean): Promise<Opening> {
  const first = await firstChunk(iterator);
  if (first.done) return { chunk: '' };
  const most = isEvents ? 0 : AT_ONCE_BYTES;
  const chunks = [bytesOf(first.value)];
  let turned: Promise<undefined> | undefined;
  for (let bytes = chunks[0]!.length; ;) {
    const next = iterator.next();
    // Told to whoever waits for it.
    next.catch(() => undefined);
    const step = bytes > most ? undefined : await Promise.race([next, (turned ??= nextTurn(undefined))]);
    if (!step) return { chunk: joined(chunks), next };
    if (step.done) return { chunk: joined(chunks) };
    chunks.push(bytesOf(step.value));
    bytes += step.value.length;
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
