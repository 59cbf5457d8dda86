/**
 * Recordings in a bucket, as `<prefix>/<session>/<start>-<side>.ogg`. Audio that is not in a part of the upload yet is stored
 * beside it, in pieces whose names contain their offsets (track-upload.ts).
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { Bucket } from './bucket.js';
import { endIn, type RecordingStore, TAIL_BYTES, type Track } from './store.js';

const folderOf = (sessionId: string): string => `${sessionId}/`;

/** The start time distinguishes parts of one session's recording, and recordings of calls that started again. */
export const keyOf = ({ sessionId, role, startedAt }: Track): string =>
  `${folderOf(sessionId)}${startedAt.toISOString().replaceAll(/[:.-]/g, '')}-${role}.ogg`;

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Awaits the bucket's answer. Errors: `storage_unavailable`. */
const asked = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((cause: unknown) => {
    throw new ServiceError('storage_unavailable', {
      message: 'The bucket of recordings cannot be reached, try again later',
      cause,
    });
  });

async function* reading(bucket: Bucket, key: string, from: number, to: number): AsyncGenerator<Uint8Array> {
  if (from >= to) return;
  const range = await bucket.read(key, `bytes=${from}-${to - 1}`);
  if (!range) throw new Error('the recording has gone');
  yield* range.stream as AsyncIterable<Buffer>;
}

/** `redirectFor`: if given, clients are redirected to addresses of the bucket that are valid for this many seconds. */
export function createBucketStore(bucket: Bucket, redirectFor?: number): RecordingStore {
  return {
    async end(track) {
      const tail = await asked(bucket.read(keyOf(track), `bytes=-${TAIL_BYTES}`));
      return tail && endIn(await asked(bytesOf(tail.stream)));
    },
    async open(track) {
      const key = keyOf(track);
      const bytes = await asked(bucket.size(key));
      if (bytes === undefined) return undefined;
      const address = redirectFor === undefined ? undefined : await asked(bucket.address(key, redirectFor));
      return { bytes, read: (from, to) => reading(bucket, key, from, to), ...(address && { address }) };
    },
  };
}

/** Removes all objects and uploads of a session. */
export async function emptyBucket(bucket: Bucket, sessionId: string): Promise<void> {
  const start = folderOf(sessionId);
  for (const { key, id } of await bucket.begun(start)) await bucket.abort(key, id);
  await bucket.remove((await bucket.list(start)).map(({ key }) => key));
}
