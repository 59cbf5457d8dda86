/**
 * The processes that decode uploads: what they may do, how they end, and that no failure leaves anything behind.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getFfmpegPath } from '@livekit/av';
import { BUILT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { bytesOf } from '../../../contracts/audio.js';
import { findFfmpegs } from '../../../codecs/decode/binaries.js';
import { wavHeader } from '../../../codecs/wav.js';
import { collect, fixture, tone } from '../../fixtures/codecs/audio.js';
import {
  anybody,
  bomb,
  decodeAll,
  decodeOnce,
  decoder,
  decoders,
  doesNotRun,
  folder,
  HEADER,
  neverAborted,
  nothingLeft,
  RATE,
  standIn,
  tooLong,
  unreadable,
  uploads,
} from '../../fixtures/codecs/decoding.js';
import { exactly, rejectsExactly, throwsExactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

/** Files for which no process is started. */
const STRANGERS: Record<string, string> = {
  empty: '',
  'an HLS playlist': '#EXTM3U\n#EXTINF:10,\nhttp://169.254.169.254/latest/meta-data\n',
  'a concat script': "ffconcat version 1.0\nfile '/etc/passwd'\n",
  text: 'this is a text',
  PNG: '\x89PNG\r\n\x1a\n',
  ZIP: 'PK\x03\x04',
};

t.test('no process is started for a file of an unknown container', async (t) => {
  const decode = decoder({ ffmpegPath: standIn('says', `${HEADER} echo AAAA`) });
  for (const [name, bytes] of Object.entries(STRANGERS)) {
    await rejectsExactly(t, decodeAll(decode, Buffer.from(bytes, 'latin1')), unreadable, name);
  }
  t.equal((await decodeAll(decode, wavHeader(RATE))).length, 2, 'it would have been heard');
});

t.test('the limit is exact to the byte', async (t) => {
  const second = Buffer.concat([wavHeader(RATE), bytesOf(tone(RATE, 1))]);
  t.equal((await decodeAll(decoder({ limits: { pcmBytes: 32_000 } }), second)).length, RATE);
  await rejectsExactly(t, decodeAll(decoder({ limits: { pcmBytes: 31_999 } }), second), tooLong);
});

t.test('a decoder runs under limits, without our environment', async (t) => {
  process.env['CODECS_TEST_SECRET'] = 'do-not-tell';
  const script = HEADER + 'env; echo "f $(ulimit -f) t $(ulimit -t) c $(ulimit -c)"';
  const decode = decoder({ ffmpegPath: standIn('tells', script) });
  const said = Buffer.concat(
    (await collect(decode(wavHeader(RATE), anybody, neverAborted))).map(bytesOf),
  ).toString('latin1');
  delete process.env['CODECS_TEST_SECRET'];
  t.notMatch(said, /do-not-tell/);
  t.match(said, /f 0 t 120 c 0/);
});

t.test('a decoder that says nothing is killed', async (t) => {
  const decode = decoder({ ffmpegPath: standIn('hangs', 'exec sleep 1000'), limits: { waitMs: 300 } });
  await rejectsExactly(t, decodeAll(decode, fixture('tone.wav')), unreadable);
  nothingLeft(t);
});

t.test('a decoder that is stopped is killed after five seconds: no fault of the file', async (t) => {
  const decode = decoder({ ffmpegPath: standIn('stops', 'kill -STOP $$; exec sleep 1000') });
  await rejectsExactly(t, decodeAll(decode, fixture('tone.wav')), { code: 'engine_lost', status: 503 });
  nothingLeft(t);
});

t.test('a decoder that crashes is an error, though it had begun', async (t) => {
  const decode = decoder({ ffmpegPath: standIn('crashes', `${HEADER} echo AAAA; kill -SEGV $$`) });
  await rejectsExactly(t, decodeAll(decode, fixture('tone.wav')), unreadable);
  nothingLeft(t);
});

t.test('too many uploads: some wait, the rest are refused', async (t) => {
  const decode = decoder({ limits: { processes: 1, queue: 1 } });
  const first = decode(bomb, anybody, neverAborted)[Symbol.asyncIterator]();
  await first.next();
  const gone = new AbortController();
  const second = decode(fixture('tone.wav'), anybody, gone.signal)[Symbol.asyncIterator]();
  const waiting = rejectsExactly(t, second.next(), { message: 'gone' }, 'who waits may leave');
  await rejectsExactly(t, decodeAll(decode, fixture('tone.wav')), { code: 'engine_busy', status: 503 });
  gone.abort(new Error('gone'));
  await waiting;
  const third = decodeAll(decode, fixture('tone.wav'));
  await first.return?.();
  t.equal((await third).length, RATE, 'the slot is free again');
  nothingLeft(t);
});

t.test('many uploads at once each get their own audio', async (t) => {
  const decode = decoder({ limits: { processes: 3 } });
  const seconds = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4];
  const lengths = await Promise.all(
    seconds.map(async (length) => {
      const file = Buffer.concat([wavHeader(RATE), bytesOf(tone(RATE, length))]);
      return (await decodeAll(decode, file)).length;
    }),
  );
  t.same(
    lengths,
    seconds.map((length) => length * RATE),
  );
  nothingLeft(t);
});

t.test('a gateway that is killed leaves no decoder, and its file goes at the next start', async (t) => {
  const file = joinPath(folder, 'long.flac');
  writeFileSync(file, bomb);
  const entry = fileURLToPath(new URL('test/fixtures/codecs/gateway.js', BUILT));
  const gateway = spawn(process.execPath, [entry, uploads, decodeOnce, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => gateway.on('exit', resolve));
  await new Promise((resolve) => gateway.stdout.once('data', resolve));
  t.equal(decoders().length, 1);
  gateway.kill('SIGKILL');
  await exited;
  await until('the decoder is gone', () => decoders().length === 0);
  t.equal(readdirSync(uploads).length, 1);
  t.equal((await decodeAll(decoder(), fixture('tone.wav'))).length, RATE);
  nothingLeft(t);
});

t.test(
  'a file of a gateway that runs is left alone; of an earlier run with our process id it is not',
  async (t) => {
    const neighbour = joinPath(uploads, `upload-${process.ppid}-00000000-0000-0000-0000-000000000000`);
    const earlier = joinPath(uploads, `upload-${process.pid}-00000000-0000-0000-0000-000000000000`);
    for (const path of [neighbour, earlier]) writeFileSync(path, 'x');
    utimesSync(earlier, 1000, 1000);
    await decodeAll(decoder(), fixture('tone.wav'));
    t.same(readdirSync(uploads), [neighbour.slice(uploads.length + 1)]);
    rmSync(neighbour);
  },
);

t.test('if the system refuses a process, the upload fails, and decoding works again later', async (t) => {
  const entry = fileURLToPath(new URL('test/fixtures/codecs/refused.js', BUILT));
  for (const ffmpeg of ['', doesNotRun]) {
    const script = `ulimit -n 128; exec "$0" "$@"`;
    const args = [process.execPath, entry, uploads, decodeOnce, ...(ffmpeg ? [ffmpeg] : [])];
    const printed = execFileSync('/bin/sh', ['-c', script, ...args], { encoding: 'utf8' });
    const outcomes = JSON.parse(printed) as unknown[];
    t.equal(outcomes.pop(), RATE, 'with descriptors to spare it is decoded');
    for (const outcome of outcomes) exactly(t, outcome, { status: 503, code: 'overloaded' });
    const told = JSON.stringify(outcomes);
    t.match(told, /upload cannot be stored/);
    t.match(told, /No process can be started/);
  }
  nothingLeft(t);
});

t.test('which ffmpeg: the operator’s, else the one that npm brought, and then one on PATH', async (t) => {
  const bin = mkdtempSync(joinPath(folder, 'bin-'));
  const fromNpm = [getFfmpegPath()].filter((path) => path !== undefined);
  t.same(findFfmpegs(undefined, bin), fromNpm);
  writeFileSync(joinPath(bin, 'ffmpeg'), '', { mode: 0o755 });
  for (const none of [undefined, ''])
    t.same(findFfmpegs(none, `/nowhere:${bin}`), [...fromNpm, joinPath(bin, 'ffmpeg')]);
  t.same(findFfmpegs(doesNotRun, bin), [doesNotRun]);
  throwsExactly(t, () => findFfmpegs('/nowhere/ffmpeg', bin), {
    message: /^FFMPEG_PATH: \/nowhere\/ffmpeg is not/,
  });
});

t.test('what the build from npm lacks is decoded by an ffmpeg on PATH', async (t) => {
  const bin = mkdtempSync(joinPath(folder, 'bin-'));
  writeFileSync(joinPath(bin, 'ffmpeg'), `#!/bin/sh\n${HEADER} printf abcd\n`, { mode: 0o755 });
  const decode = decoder({ searchPath: bin });
  t.ok((await decodeAll(decode, fixture('tone.mp3'))).length > 0.9 * RATE, 'MP3 by the one from npm');
  t.equal(
    (await decodeAll(decode, fixture('tone.aac'))).length,
    2,
    'AAC by the other, which says two samples',
  );
});

t.test('an upload is readable by us alone', async (t) => {
  const decode = decoder({ ffmpegPath: standIn('lists', `${HEADER} ls -l ${uploads}`) });
  const said = Buffer.concat(
    (await collect(decode(wavHeader(RATE), anybody, neverAborted))).map(bytesOf),
  ).toString('latin1');
  t.match(said, /-rw-------/);
});
