/**
 * Recordings in a bucket (RECORDINGS_URL) if the machine dies, the bucket is unreachable, or the session is deleted. The
 * bucket is in memory here; s3.test.ts has a real one.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import type { Clock } from '../../../contracts/clock.js';
import { silentLog } from '../../../contracts/log.js';
import { createBucketStore } from '../../../gateway/agents/recordings/bucket-store.js';
import { RecordingUploads, removeDeletedObjects } from '../../../gateway/agents/recordings/uploads.js';
import { RECORDING_FILE_ROWS } from '../../../gateway/dialects/platform/sessions/recording-file.js';
import type { HttpRequest } from '../../../gateway/server/port.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { MemoryBucket } from '../../fixtures/recordings/memory-bucket.js';
import { machines, statesOf, trackOf, writeTrack } from '../../fixtures/recordings/recorded.js';
import { until } from '../../fixtures/until.js';

const START = new Date('2026-01-01T12:00:00.000Z');
const SPOOL = 1_000_000;

const all = await machines(t);

/** Machines that share one new bucket for recordings. */
function buckets() {
  const { sql, clock, dataDir } = all;
  const bucket = new MemoryBucket();
  const place = { url: bucket.url, store: createBucketStore(bucket) };
  const on = (host: string) => all.on(host, place);
  const uploads = (host: string, processId = host, spoolBytes = SPOOL, own: Clock = clock) =>
    new RecordingUploads({
      ...{ bucket, sql, dataDir: dataDir(host), host, processId, spoolBytes, clock: own, log: silentLog },
    });
  return {
    ...all,
    bucket,
    on,
    uploads,
    /** A session whose call is recorded on that machine. */
    async recorded(host: string): Promise<string> {
      const id = await all.session();
      on(host).began(id, START, 1);
      await until('it is listed', async () => (await on(host).read(id, '')) !== undefined);
      return id;
    },
    lies: (host: string, id: string): boolean => existsSync(join(dataDir(host), 'recordings', id)),
    /** Makes the recording's machine look silent for that many minutes. */
    silent: (minutes: number) => sql`
      update recordings set claimed_until = now() - ${minutes}::int * interval '1 minute'
      where store = ${bucket.url}`,
  };
}

/** One round of a process's uploads. */
async function round(process: RecordingUploads): Promise<void> {
  await process.claim();
  await process.work();
}

t.test('a call: uploaded while it runs, listed when the bucket has all of it', async (t) => {
  const { on, uploads, recorded, end, dataDir, lies, bucket, clock } = buckets();
  const [here, process] = [on('here'), uploads('here')];
  const id = await recorded('here');
  writeTrack(dataDir('here'), id, 'agent', 20, false);
  writeTrack(dataDir('here'), id, 'user', 20, false);
  await round(process);
  t.equal(bucket.keys.length, 2, 'both sides are there so far');
  exactly(t, await here.read(id, ''), { status: 'processing' });

  const bytes = writeTrack(dataDir('here'), id, 'agent', 30);
  writeTrack(dataDir('here'), id, 'user', 30);
  await end(id, 0);
  await round(process);
  const recording = (await on('there').read(id, 'http://gateway'))!;
  exactly(t, recording, { session_id: id, status: 'complete', error: null });
  const agent = trackOf(recording, 'agent');
  exactly(t, agent, { duration_ms: 29_994, started_at: START.toISOString() });
  t.strictSame(
    bucket.keys,
    ['agent', 'user'].map((role) => `${id}/20260101T120000000Z-${role}.ogg`),
  );
  t.notOk(lies('here', id), 'its files are not needed any more');

  const token = new URL(agent.url!).pathname.replace('/v1/agent/recordings/', '');
  const file = (await on('there').open(token))!;
  t.strictSame([file.bytes, file.address], [bytes.length, undefined]);
  const read: Uint8Array[] = [];
  for await (const piece of file.read(10, 300)) read.push(piece);
  t.same(Buffer.concat(read), bytes.subarray(10, 300), 'any gateway reads it');
  clock.advance(3_600_000);
  t.equal(await on('there').open(token), undefined, 'for an hour');
});

t.test('a machine that dies leaves what was uploaded, closed and listed', async (t) => {
  const { on, uploads, recorded, end, dataDir, silent, bucket } = buckets();
  const there = on('there');
  const id = await recorded('here');
  const bytes = writeTrack(dataDir('here'), id, 'agent', 20, false);
  writeTrack(dataDir('here'), id, 'user', 20, false);
  await round(uploads('here'));
  await end(id, 360);
  await silent(4);
  const other = uploads('there');
  await round(other);
  exactly(t, await there.read(id, ''), { status: 'processing' }, 'its machine may come back');
  await silent(6);
  await round(other);
  const recording = (await there.read(id, 'http://gateway'))!;
  exactly(t, recording, { status: 'failed', error_code: 'interrupted' });
  exactly(
    t,
    trackOf(recording, 'agent'),
    { duration_ms: 18_994, url: /^http/ },
    'it can be heard up to there',
  );
  t.same(bucket.objects.get(bucket.keys[0]!), bytes);
  t.equal(bucket.keys.length, 2, 'no pieces are left');
});

t.test('a process that dies leaves its recordings to another of the machine', async (t) => {
  const { on, uploads, recorded, end, dataDir, silent } = buckets();
  const id = await recorded('here');
  writeTrack(dataDir('here'), id, 'agent', 20);
  writeTrack(dataDir('here'), id, 'user', 20);
  await uploads('here', 'first').claim();
  const second = uploads('here', 'second');
  await round(second);
  exactly(t, await on('here').read(id, ''), { status: 'processing' }, 'one at a time');
  await end(id, 30);
  await silent(0);
  await round(second);
  exactly(t, await on('here').read(id, ''), { status: 'complete' });
});

t.test('a bucket that is away is asked less and less often, and gets it all later', async (t) => {
  const { on, uploads, recorded, end, dataDir, bucket, clock, lies } = buckets();
  const [here, process] = [on('here'), uploads('here')];
  const id = await recorded('here');
  writeTrack(dataDir('here'), id, 'agent', 20);
  writeTrack(dataDir('here'), id, 'user', 20);
  await end(id, 30);
  bucket.away = true;
  const asked: number[] = [];
  for (let second = 0; second < 40; second += 1) {
    const before = bucket.asked;
    await round(process);
    if (bucket.asked > before) asked.push(second);
    clock.advance(1000);
  }
  t.strictSame(asked, [0, 1, 3, 7, 15, 31]);
  exactly(t, await here.read(id, ''), { status: 'processing' });
  t.ok(lies('here', id), 'it waits in the data folder');
  bucket.away = false;
  clock.advance(60_000);
  await round(process);
  exactly(t, await here.read(id, ''), { status: 'complete' });
  bucket.away = true;
  await rejectsExactly(t, here.read(id, ''), { code: 'storage_unavailable' }, 'away again, it is 503');
});

t.test('a bucket that is back is asked in time, though the clock was set back meanwhile', async (t) => {
  const { on, uploads, recorded, end, dataDir, bucket, clock } = buckets();
  let behindMs = 0;
  const own: Clock = {
    now: () => clock.now() - behindMs,
    monotonic: () => clock.monotonic(),
    after: (ms, task) => clock.after(ms, task),
  };
  const process = uploads('here', 'here', SPOOL, own);
  const id = await recorded('here');
  for (const role of ['agent', 'user'] as const) writeTrack(dataDir('here'), id, role, 20);
  await end(id, 30);
  bucket.away = true;
  await round(process);
  bucket.away = false;
  behindMs = 3_600_000;
  clock.advance(1000);
  await round(process);
  exactly(t, await on('here').read(id, ''), { status: 'complete' });
});

t.test('a side that fails waits for the other one before both are tried again', async (t) => {
  const { on, uploads, recorded, dataDir, bucket, clock } = buckets();
  const [here, process] = [on('here'), uploads('here')];
  const id = await recorded('here');
  for (const role of ['agent', 'user'] as const) writeTrack(dataDir('here'), id, role, 20, false);
  const put = bucket.put.bind(bucket);
  let sending = 0;
  bucket.put = async (key, body) => {
    if (key.includes('user.ogg')) throw new Error('refused');
    sending += 1;
    await setTimeout(50);
    await put(key, body);
    sending -= 1;
  };
  await round(process);
  t.equal(sending, 0, 'the round that failed has left nothing running');
  bucket.put = put;
  t.equal(bucket.keys.length, 1, 'what the other side sent is there');
  clock.advance(60_000);
  await round(process);
  t.equal(bucket.keys.length, 2);
  exactly(t, await here.read(id, ''), { status: 'processing' });
});

t.test('audio beyond RECORDINGS_SPOOL_MB is discarded, the oldest first', async (t) => {
  const { on, uploads, recorded, end, dataDir, bucket, lies } = buckets();
  const here = on('here');
  bucket.away = true;
  const [old, young] = [await recorded('here'), await recorded('here')];
  const sizes = [old, young].map((id) => writeTrack(dataDir('here'), id, 'agent', 60).length);
  for (const id of [old, young]) await end(id, 30);
  await round(uploads('here', 'here', sizes[0]! + 10));
  const states = await Promise.all([old, young].map(async (id) => (await here.read(id, ''))!));
  t.strictSame(states.map(({ status }) => status).sort(), ['failed', 'processing'], 'one of them');
  const lost = states.find(({ status }) => status === 'failed')!;
  exactly(t, lost, {
    error_code: 'not_uploaded',
    error: 'The recording was not uploaded: too much waited for the bucket',
  });
  t.notOk(lies('here', lost.session_id));
});

t.test('a call that another machine took over has a part of each in the bucket', async (t) => {
  const { sql, on, uploads, recorded, end, dataDir, lies, silent, bucket } = buckets();
  const id = await recorded('here');
  for (const role of ['agent', 'user']) writeTrack(dataDir('here'), id, role, 20, false);
  await round(uploads('here'));
  on('there').began(id, new Date(START.getTime() + 30_000), 2);
  await until('the second part is listed', async () => (await on('here').read(id, ''))?.tracks.length === 4);
  const parts = { agent: writeTrack(dataDir('there'), id, 'agent-2', 30) };
  writeTrack(dataDir('there'), id, 'user-2', 30);
  const other = uploads('there');
  await round(other);
  t.notOk(lies('there', id), 'the second is in the bucket as soon as it has ended');
  exactly(t, await on('there').read(id, ''), { status: 'processing' }, 'the first may still grow');
  await end(id, 360);
  await silent(6);
  await round(other);
  const recording = (await on('there').read(id, 'http://gateway'))!;
  exactly(t, recording, { status: 'complete', error: null });
  t.strictSame(statesOf(recording), [
    [1, 'agent', 'failed', 'interrupted'],
    [1, 'user', 'failed', 'interrupted'],
    [2, 'agent', 'complete', null],
    [2, 'user', 'complete', null],
  ]);
  const { url } = recording.tracks[2]!;
  const file = (await on('here').open(new URL(url!).pathname.replace('/v1/agent/recordings/', '')))!;
  const read: Uint8Array[] = [];
  for await (const piece of file.read(0, file.bytes)) read.push(piece);
  t.same(Buffer.concat(read), parts.agent);
  t.equal(bucket.keys.length, 4);
  await sql`delete from sessions where id = ${id}`;
  await removeDeletedObjects(sql, bucket);
  t.equal(bucket.keys.length, 0, 'all parts go with their session');
});

t.test('a deleted recording goes from the bucket, and what is on its way as well', async (t) => {
  const { sql, uploads, recorded, end, dataDir, bucket } = buckets();
  const process = uploads('here');
  const [kept, deleted, growing] = [await recorded('here'), await recorded('here'), await recorded('here')];
  for (const id of [kept, deleted, growing]) {
    writeTrack(dataDir('here'), id, 'agent', 20, id !== growing);
    if (id !== growing) await end(id, 30);
  }
  await round(process);
  await bucket.begin(`${growing}/20260101T120000000Z-user.ogg`);
  await sql`delete from sessions where id in ${sql([deleted, growing])}`;
  const places = await sql<{ host: string }[]>`
    select distinct host from deleted_recordings where session_id = ${deleted} order by host`;
  t.strictSame(
    places.map(({ host }) => host),
    ['here', bucket.url],
    'both places have something to remove',
  );
  await removeDeletedObjects(sql, bucket);
  t.strictSame([bucket.keys, bucket.uploads.size], [[`${kept}/20260101T120000000Z-agent.ogg`], 0]);
  await process.claim();
  await process.work();
  t.equal(bucket.keys.length, 1, 'and it is not uploaded any more');
});

t.test('a recording in another bucket, or in none, says so', async (t) => {
  const { sql, on, uploads, recorded, end, dataDir } = buckets();
  const id = await recorded('here');
  await end(id, 30);
  writeTrack(dataDir('here'), id, 'agent', 20);
  await round(uploads('here'));
  const [agent, user] = (await on('here').read(id, ''))!.tracks;
  exactly(t, [agent, user], [{ status: 'complete' }, { status: 'failed', error_code: 'missing' }]);
  await sql`update recordings set store = 's3://another' where session_id = ${id}`;
  t.strictSame(
    statesOf((await on('here').read(id, ''))!).map(([, , , code]) => code),
    ['other_bucket', 'other_bucket'],
  );
});

t.test('files that another machine has finished are removed', async (t) => {
  const { sql, on, uploads, recorded, dataDir, lies } = buckets();
  const [done, open] = [await recorded('here'), await recorded('here')];
  for (const id of [done, open]) writeTrack(dataDir('here'), id, 'agent', 5);
  await sql`update recordings set kept_at = now() where session_id = ${done}`;
  const half = await recorded('here');
  writeTrack(dataDir('here'), half, 'agent-2', 5);
  await sql`update recordings set kept_at = now() where session_id = ${half}`;
  on('here').began(half, START, 2);
  await until('it is listed', async () => (await on('here').read(half, ''))?.tracks.length === 4);
  await uploads('here').removeSettled();
  t.strictSame([lies('here', done), lies('here', open)], [false, true]);
  t.ok(lies('here', half), 'one of its parts is still on its way');
});

t.test(
  'where clients are sent to the bucket, only what reads is, and nobody who must not go there',
  async (t) => {
    const { handler } = RECORDING_FILE_ROWS[0]!;
    const address = 'http://bucket/signed';
    const read = async function* () {
      yield await Promise.resolve(Buffer.from('OggS'));
    };
    const recordings = { open: () => Promise.resolve({ bytes: 4, read, address }) };
    const asked = (method: string, query = '') => {
      const request = { method, params: {}, headers: new Headers(), query: new URLSearchParams(query) };
      return handler(request as unknown as HttpRequest, { recordings });
    };
    exactly(t, await asked('GET'), {
      status: 307,
      headers: { location: address, 'cache-control': 'private, no-store' },
    });
    const audio = { status: 200, headers: { 'content-type': 'audio/ogg' } };
    exactly(t, await asked('HEAD'), audio);
    exactly(t, await asked('GET', 'redirect=false'), audio);
  },
);
