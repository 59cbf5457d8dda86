/** Uploading one side of a call while it grows: the state of the bucket at each moment, and continuing from it. */
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { TrackUpload } from '../../../../../gateway/agents/recordings/track-upload.js';
import { MemoryBucket } from '../../../../fixtures/recordings/memory-bucket.js';

const { partBytes } = LIMITS.recording;
const KEY = 'sess_1/20260101T120000000Z-user.ogg';
const piece = (from: number): string => `${KEY}.${String(from).padStart(12, '0')}`;

/** Bytes without repeated stretches. */
const audio = (from: number, to: number): Buffer => {
  const bytes = Buffer.alloc(to - from);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = ((from + at) * 2654435761) >>> 24;
  return bytes;
};

function growing(t: Pick<Test, 'teardown'>) {
  const folder = mkdtempSync(join(tmpdir(), 'track-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'user.ogg');
  writeFileSync(file, '');
  let size = 0;
  return {
    file,
    /** Appends to the file, up to `bytes` in all. */
    to(bytes: number): void {
      appendFileSync(file, audio(size, bytes));
      size = bytes;
    },
    whole: (): Buffer => audio(0, size),
  };
}

t.test('a short call is uploaded in pieces while it lasts, and is one object when over', async (t) => {
  const bucket = new MemoryBucket();
  const { file, to, whole } = growing(t);
  const upload = new TrackUpload(bucket, KEY, file);
  await upload.advance(false);
  t.strictSame(bucket.keys, [], 'nothing has come yet');
  to(1000);
  await upload.advance(false);
  to(1500);
  await upload.advance(false);
  await upload.advance(false);
  t.strictSame(bucket.keys, [piece(0), piece(1000)], 'what is new, and nothing twice');
  to(1700);
  await upload.advance(true);
  t.strictSame(bucket.keys, [KEY]);
  t.ok(bucket.objects.get(KEY)?.equals(whole()));
  t.equal(bucket.uploads.size, 0, 'less than a part needs no multipart upload');
});

t.test('a long call is uploaded in parts, with pieces only for what follows them', async (t) => {
  const bucket = new MemoryBucket();
  const { file, to, whole } = growing(t);
  const upload = new TrackUpload(bucket, KEY, file);
  to(partBytes - 10);
  await upload.advance(false);
  to(2 * partBytes + 100);
  await upload.advance(false);
  const [uploading] = [...bucket.uploads.values()];
  t.strictSame(
    uploading?.parts.map(({ part }) => part.bytes),
    [partBytes, partBytes],
  );
  t.strictSame(bucket.keys, [piece(2 * partBytes)]);
  to(2 * partBytes + 300);
  await upload.advance(true);
  t.strictSame([bucket.keys, bucket.uploads.size], [[KEY], 0]);
  t.ok(bucket.objects.get(KEY)?.equals(whole()));
});

t.test('another process goes on where one has died', async (t) => {
  const bucket = new MemoryBucket();
  const { file, to, whole } = growing(t);
  to(partBytes + 500);
  await new TrackUpload(bucket, KEY, file).advance(false);
  to(partBytes + 800);
  const next = new TrackUpload(bucket, KEY, file);
  await next.advance(false);
  t.strictSame(bucket.keys, [piece(partBytes), piece(partBytes + 500)]);
  await next.advance(true);
  t.ok(bucket.objects.get(KEY)?.equals(whole()));
  await new TrackUpload(bucket, KEY, file).advance(true);
  t.strictSame(bucket.keys, [KEY], 'and what is whole already stays so');
});

t.test('a machine without the file makes one of parts and pieces', async (t) => {
  const bucket = new MemoryBucket();
  const { file, to } = growing(t);
  const upload = new TrackUpload(bucket, KEY, file);
  // The first part contains this piece only in part.
  to(partBytes - 100);
  await upload.advance(false);
  bucket.objects.set(piece(partBytes - 100), audio(partBytes - 100, partBytes + 50));
  const other = new TrackUpload(bucket, KEY, file);
  to(partBytes + 50);
  await other.advance(false);
  to(partBytes + 90);
  await other.advance(false);
  t.strictSame(bucket.keys, [piece(partBytes - 100), piece(partBytes + 50)]);
  to(partBytes + 5000);
  await new TrackUpload(bucket, KEY, undefined).advance(true);
  t.strictSame([bucket.keys, bucket.uploads.size], [[KEY], 0]);
  t.ok(bucket.objects.get(KEY)?.equals(audio(0, partBytes + 90)), 'all that was uploaded');
});

t.test('a file that has less than the bucket does not replace it', async (t) => {
  const bucket = new MemoryBucket();
  const { file, to } = growing(t);
  to(900);
  await new TrackUpload(bucket, KEY, file).advance(false);
  truncateSync(file, 100);
  await new TrackUpload(bucket, KEY, file).advance(true);
  t.ok(bucket.objects.get(KEY)?.equals(audio(0, 900)));
});

t.test('a side without audio uploads no file', async (t) => {
  const bucket = new MemoryBucket();
  await new TrackUpload(bucket, KEY, undefined).advance(true);
  t.strictSame([bucket.keys, bucket.uploads.size], [[], 0]);
});
