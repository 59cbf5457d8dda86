/** Recordings in a bucket of a real S3 server: requests of the client, errors at the start, and a call on a gateway. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Recording } from '../../../contracts/ports/sessions/recordings.js';
import { createBucketStore, emptyBucket, keyOf } from '../../../gateway/agents/recordings/bucket-store.js';
import { checkBucket, openS3 } from '../../../gateway/agents/recordings/s3.js';
import { TrackUpload } from '../../../gateway/agents/recordings/track-upload.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { startS3, withoutS3 } from '../../fixtures/recordings/s3-server.js';
import { trackOf } from '../../fixtures/recordings/recorded.js';
import { until } from '../../fixtures/until.js';

const skip = withoutS3;
const server = skip === false ? await startS3(t) : undefined;
Object.assign(process.env, server?.env);
t.teardown(letGo);

const { partBytes } = LIMITS.recording;
const URL_OF_BUCKET = 's3://calls/of/tests';
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

t.test('parts, pieces and objects', { skip }, async (t) => {
  const bucket = await openS3(URL_OF_BUCKET, process.env);
  t.teardown(() => bucket.close());
  const folder = mkdtempSync(join(tmpdir(), 's3-track-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'user.ogg');
  const bytes = Buffer.alloc(partBytes + 70_000);
  for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE((at * 2654435761) >>> 0, at);
  const track = { sessionId: 'sess_1', role: 'user', part: 1, startedAt: new Date(0) } as const;
  const key = keyOf(track);

  writeFileSync(file, bytes.subarray(0, partBytes - 100));
  await new TrackUpload(bucket, key, file).advance(false);
  writeFileSync(file, bytes.subarray(0, partBytes + 50_000));
  await new TrackUpload(bucket, key, file).advance(false);
  t.equal((await bucket.begun('sess_1/')).length, 1, 'a multipart upload has begun');
  t.strictSame(
    (await bucket.list('sess_1/')).map(({ key, bytes }) => [key, bytes]),
    [[`${key}.${String(partBytes).padStart(12, '0')}`, 50_000]],
    'what is behind its first part lies in a piece',
  );
  await new TrackUpload(bucket, key, undefined).advance(true);
  t.strictSame(await bucket.list('sess_1/'), [{ key, bytes: partBytes + 50_000 }], 'now it is one object');
  t.strictSame(await bucket.begun(''), []);

  const [plain, sent] = [createBucketStore(bucket), createBucketStore(bucket, 60)];
  const opened = (await plain.open(track))!;
  const read: Uint8Array[] = [];
  for await (const piece of opened.read(0, opened.bytes)) read.push(piece);
  t.equal(digest(Buffer.concat(read)), digest(bytes.subarray(0, partBytes + 50_000)), 'byte by byte');
  t.equal(opened.address, undefined);
  const { address } = (await sent.open(track))!;
  const part = await fetch(address!, { headers: { range: 'bytes=10-29' } });
  t.strictSame([part.status, part.headers.get('content-type')], [206, 'audio/ogg'], 'a presigned address');
  t.same(Buffer.from(await part.arrayBuffer()), bytes.subarray(10, 30));
  const forged = await fetch(address!.replace('X-Amz-Expires=60', 'X-Amz-Expires=61'));
  t.equal(forged.status, 403);
  t.equal(await plain.open({ ...track, role: 'agent' }), undefined);
  t.equal(await plain.end({ ...track, role: 'agent' }), undefined);

  const begun = await bucket.begin(`sess_1/another.ogg`);
  t.ok(begun);
  await emptyBucket(bucket, 'sess_1');
  t.strictSame([await bucket.list(''), await bucket.begun('')], [[], []], 'everything of a session goes');
});

t.test('an unusable bucket is reported in one line', { skip }, async (t) => {
  const checked = async (url = URL_OF_BUCKET) => {
    const bucket = await openS3(url, process.env);
    return checkBucket(bucket).finally(() => bucket.close());
  };
  const restore = { ...process.env };
  t.teardown(() => Object.assign(process.env, restore));
  t.equal(await checked(), undefined, 'it can');
  exactly(t, await checked('s3://missing'), {
    fatal: true,
    reason: 'there is no such bucket (NoSuchBucket (404))',
  });
  const denied = 'the credentials are wrong, or may not list, write and delete there';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'of somebody else';
  exactly(t, await checked(), { fatal: true, reason: `${denied} (SignatureDoesNotMatch (403))` });
  process.env['AWS_ACCESS_KEY_ID'] = 'somebody';
  exactly(t, await checked(), { fatal: true, reason: new RegExp(`^${denied} \\(`) });
  process.env['AWS_ENDPOINT_URL_S3'] = 'http://127.0.0.1:1';
  exactly(
    t,
    await checked(),
    { fatal: false, reason: 'ECONNREFUSED' },
    'one that is away does not stop a start',
  );
});

t.test('a call on a gateway, whose bucket is away for a while', { skip, timeout: 180_000 }, async (t) => {
  const talks = await Talks.start(t, { RECORD_AUDIO_DEFAULT: 'true', RECORDINGS_URL: URL_OF_BUCKET });
  const { call, gateway } = talks;
  const { caller, invite } = await talks.meet();
  const { session_id: id } = invite;
  const inBucket = (): readonly string[] => {
    const folder = join(server!.folder, 'of', 'tests', id);
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  await talks.say(caller, 'Two lamps, please.');
  await until('both sides are on their way', () => inBucket().length >= 2);
  await server!.stop();
  caller.hangUp();
  await talks.ended(invite);
  const recordingOf = async () => {
    const { status, body } = await call(`sessions/${id}/recording`);
    return { status, body: body as unknown as Recording };
  };
  exactly(t, await recordingOf(), { status: 200, body: { status: 'processing' } });
  await server!.start();
  const recording = await until('the bucket has it all', async () => {
    const { body } = await recordingOf();
    return body.status === 'processing' ? undefined : body;
  });
  exactly(t, recording, { status: 'complete', error: null });
  t.equal(inBucket().filter((name) => /^\w+-(agent|user)\.ogg$/.test(name)).length, 2);
  // The recording is complete a moment before its local files are deleted.
  await until(
    'nothing is left in the data folder',
    () => !existsSync(join(gateway.dataDir, 'recordings', id)),
  );
  for (const role of ['agent', 'user']) {
    const { url } = trackOf(recording, role);
    const whole = await fetch(url!);
    t.strictSame([whole.status, whole.headers.get('content-type')], [200, 'audio/ogg'], role);
    const bytes = Buffer.from(await whole.arrayBuffer());
    t.equal(bytes.subarray(0, 4).toString(), 'OggS');
    const part = await fetch(url!, { headers: { range: 'bytes=-5' } });
    t.strictSame(
      [part.status, part.headers.get('content-range')],
      [206, `bytes ${bytes.length - 5}-${bytes.length - 1}/${bytes.length}`],
    );
    t.same(Buffer.from(await part.arrayBuffer()), bytes.subarray(-5));
    t.equal((await fetch(url!, { method: 'HEAD' })).status, 200);
  }
  t.equal((await call(`sessions/${id}`, { method: 'DELETE' })).status, 204);
  t.equal((await fetch(trackOf(recording, 'user').url!)).status, 404, 'deleted, it is not heard any more');
  await until('nor kept', () => inBucket().length === 0);
});
