/** Large parts of bodies on disk: forms, base64 in JSON, binaries in MessagePack; what they leave in memory and on disk. */
import { encode } from '@msgpack/msgpack';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import t from '../../../../fixtures/tap.js';
import { UNBOUNDED_SHARE } from '../../../../../contracts/ports/accounts/memory.js';
import { StoredFile } from '../../../../../contracts/ports/speech/codec.js';
import { readAudioJson } from '../../../../../gateway/server/bodies/audio-json.js';
import { readSpooledMultipart } from '../../../../../gateway/server/bodies/multipart.js';
import { readPackedAudio } from '../../../../../gateway/server/bodies/packed-audio.js';
import { SpoolFile } from '../../../../../gateway/server/bodies/spool.js';
import { openSpool } from '../../../../../gateway/wiring/spool.js';
import { rejectsExactly } from '../../../../fixtures/exactly.js';
import { contentOf, requestWith, spooling } from '../../../../fixtures/edge/spool.js';
import { until } from '../../../../fixtures/until.js';

const MIB = 1024 * 1024;
const AUDIO = Buffer.alloc(3 * MIB, 'some audio');
const LIMITS = { bodyBytes: 10 * MIB, fileBytes: 5 * MIB };

const formOf = (audio: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from('--BB\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
    audio,
    Buffer.from('\r\n--BB\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--BB--\r\n'),
  ]);
const FORM = { 'content-type': 'multipart/form-data; boundary=BB' };

t.test('a large file of a form goes to disk while it arrives, for its owner alone', async (t) => {
  const world = spooling(t);
  const request = requestWith(world, formOf(AUDIO), 64 * 1024, FORM);
  const form = await readSpooledMultipart(request, LIMITS);
  const file = form.files.get('file')?.bytes;
  t.ok(file instanceof StoredFile);
  t.ok(AUDIO.equals(await contentOf(file)));
  t.strictSame(form.fields.get('model'), ['m']);
  t.ok(world.ledger.bytes < 0.5 * MIB, `${world.ledger.bytes} bytes in memory`);
  t.equal(world.disk.bytes >= AUDIO.length, true);
  t.equal(statSync(join(world.folder, world.files()[0] ?? '')).mode & 0o777, 0o600);
});

t.test('a small file stays in memory', async (t) => {
  const world = spooling(t);
  const request = requestWith(world, formOf(AUDIO.subarray(0, 1000)), 100, FORM);
  const form = await readSpooledMultipart(request, LIMITS);
  t.ok(AUDIO.subarray(0, 1000).equals(await contentOf(form.files.get('file')?.bytes)));
  t.strictSame(world.files(), []);
});

t.test('what is refused gives its bytes back at once, in memory and on disk', async (t) => {
  const world = spooling(t);
  const form = requestWith(world, formOf(Buffer.alloc(6 * MIB)), 64 * 1024, FORM);
  await rejectsExactly(t, readSpooledMultipart(form, LIMITS), { code: 'audio_too_large' });
  const broken = requestWith(world, `{"a":"${AUDIO.toString('base64')}",}`);
  await rejectsExactly(t, readAudioJson(broken, 10 * MIB), { code: 'malformed_body' });
  // The document's own files go with its request.
  await until('the form’s file is gone', () => world.files().length <= 1);
  t.ok(world.ledger.bytes < 0.1 * MIB, `${world.ledger.bytes} bytes in memory`);
});

t.test('base64 in JSON is decoded from disk to disk, with line breaks and with padding', async (t) => {
  for (const [name, base64] of Object.entries({
    plain: AUDIO.toString('base64'),
    lines: AUDIO.toString('base64').replace(/.{76}/g, '$&\r\n'),
    uri: `data:audio/wav;base64,${AUDIO.toString('base64')}`,
    padded: AUDIO.subarray(0, AUDIO.length - 2).toString('base64'),
  })) {
    const world = spooling(t);
    const request = requestWith(world, JSON.stringify({ data: base64, after: 1 }), 10_007);
    const document = await readAudioJson(request, 10 * MIB);
    const { data, after } = document.value as { data: string; after: number };
    t.equal(after, 1);
    const content = await contentOf(await document.decode(data, 5 * MIB));
    t.ok(content.length > AUDIO.length - 3 && AUDIO.subarray(0, content.length).equals(content), name);
    t.ok(world.ledger.bytes < 0.5 * MIB, `${world.ledger.bytes} bytes in memory`);
  }
});

t.test('what is no base64 is found, wherever it is', async (t) => {
  const base64 = AUDIO.toString('base64');
  for (const wrong of [
    `${base64}*`,
    `*${base64}`,
    `${base64.slice(0, 2_000_000)}=${base64.slice(2_000_001)}`,
  ]) {
    const document = await readAudioJson(requestWith(spooling(t), JSON.stringify({ wrong })), 10 * MIB);
    const value = document.value as { wrong: string };
    t.equal(await document.decode(value.wrong, 5 * MIB), undefined);
  }
});

t.test('a long binary in MessagePack goes to disk, wherever its chunks end', async (t) => {
  for (const chunkBytes of [1021, 64 * 1024, 10 * MIB]) {
    const world = spooling(t);
    const packed = encode({ language: 'en', audio: AUDIO, short: new Uint8Array([1, 2]), last: 'x' });
    const { audio, ...rest } = await readPackedAudio(requestWith(world, packed, chunkBytes), 10 * MIB);
    t.ok(audio instanceof StoredFile && AUDIO.equals(await contentOf(audio)), `by ${chunkBytes}`);
    t.strictSame([rest['language'], rest['last']], ['en', 'x']);
  }
  const cut = encode({ audio: AUDIO }).subarray(0, MIB);
  await rejectsExactly(t, readPackedAudio(requestWith(spooling(t), cut), 10 * MIB), {
    code: 'malformed_body',
  });
});

t.test('a starting gateway removes what a killed one has left, and nothing else', async (t) => {
  const { folder } = spooling(t);
  const spool = join(folder, 'spool');
  mkdirSync(spool, { mode: 0o700 });
  const gone = spawnSync('true').pid;
  writeFileSync(join(spool, `upload-${gone}-${randomUUID()}`), 'left');
  writeFileSync(join(spool, `upload-${process.ppid}-${randomUUID()}`), 'in use');
  writeFileSync(join(spool, 'note.txt'), 'not ours');
  await openSpool({ dataDir: folder, spoolMb: 1 });
  t.strictSame(readdirSync(spool).length, 2);
});

t.test('a disk without room is 503, which says so, and is no fault of the node’s storage', async (t) => {
  const file = new SpoolFile(join(spooling(t).folder, 'none'), open('/dev/full', 'w'), UNBOUNDED_SHARE);
  t.teardown(() => file.remove());
  file.write(Buffer.alloc(100_000));
  await rejectsExactly(t, file.room(), { code: 'storage_full', status: 503, retryAfter: 1 });
});

t.test('all fields of a form have at most 8 MiB', async (t) => {
  const field = `--BB\r\nContent-Disposition: form-data; name="x"\r\n\r\n${'x'.repeat(MIB - 1)}\r\n`;
  const read = (count: number) =>
    readSpooledMultipart(requestWith(spooling(t), `${field.repeat(count)}--BB--\r\n`, MIB, FORM), LIMITS);
  t.equal((await read(8)).fields.get('x')?.length, 8);
  await rejectsExactly(t, read(9), { code: 'payload_too_large' });
});

t.test('a text has at most 32 MiB', async (t) => {
  const read = async (length: number): Promise<string> => {
    const request = requestWith(
      spooling(t, MIB, 128 * MIB),
      JSON.stringify({ text: 'x'.repeat(length) }),
      MIB,
    );
    const inMemory = { ...request, store: () => undefined };
    const document = await readAudioJson(inMemory, 40 * MIB);
    return document.text((document.value as { text: string }).text);
  };
  t.equal((await read(32 * MIB)).length, 32 * MIB);
  await rejectsExactly(t, read(32 * MIB + 1), { code: 'payload_too_large' });
});

t.test('a full spool refuses the largest holder', async (t) => {
  const world = spooling(t, 2 * MIB);
  await rejectsExactly(t, readSpooledMultipart(requestWith(world, formOf(AUDIO), 64 * 1024, FORM), LIMITS), {
    code: 'memory_exhausted',
    status: 503,
  });
});
