/**
 * Decoding uploads in real processes: with an ffmpeg of the system, with the build from npm, and with
 * node-av alone. Every container, hostile files, and that no failure leaves anything behind.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getFfmpegPath } from '@livekit/av';
import type { Test } from 'tap';
import { BUILT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { bytesOf, joinSamples } from '../../../contracts/audio.js';
import { createDecode, type DecodeOptions } from '../../../codecs/decode/decoder.js';
import { findFfmpegs } from '../../../codecs/decode/binaries.js';
import { wavHeader } from '../../../codecs/wav.js';
import {
  collect,
  fixture,
  frequencyOf,
  HOURS_FILE,
  peakOf,
  tone,
  TONE_FILES,
  type ToneFile,
  wavFile,
} from '../../fixtures/codecs/audio.js';
import { exactly, rejectsExactly, throwsExactly } from '../../fixtures/exactly.js';
import { externalTool, skipReason } from '../../fixtures/external.js';
import { commandOf } from '../../fixtures/processes/family.js';
import { shortOrLong } from '../../fixtures/long.js';
import { productFile } from '../../fixtures/processes/product.js';
import { until } from '../../fixtures/until.js';

const RATE = 16_000;
const NO_FFMPEG_ON_PATH = '';
const HOUR_BYTES = 3600 * RATE * 2;

// Comes first, since it may throw: nothing has to be cleaned up yet.
const skipSystem = skipReason('ffmpeg');

const folder = mkdtempSync(joinPath(tmpdir(), 'decode-'));
const uploads = joinPath(folder, 'uploads');
const decodeOnce = productFile('gateway/workers/decode-once');
const neverAborted = new AbortController().signal;
const anybody = { workspaceId: 'ws' };

t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** Writes an executable script that stands in for ffmpeg. */
function standIn(name: string, script: string): string {
  const path = joinPath(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A script's command that prints the header of what decoders write. */
const headerFile = joinPath(folder, 'header.wav');
writeFileSync(headerFile, wavHeader(RATE));
const HEADER = `cat ${headerFile};`;

const doesNotRun = standIn('does-not-run', 'exit 127');

const decoder = (options: Partial<DecodeOptions> = {}) =>
  createDecode({ tempFolder: uploads, decodeOnce, searchPath: NO_FFMPEG_ON_PATH, ...options });

const decodeAll = async (decode: ReturnType<typeof decoder>, file: Uint8Array): Promise<Int16Array> =>
  joinSamples(await collect(decode(file, anybody, neverAborted)));

/** Command lines of processes that work on a file in our folder. */
const decoders = (): string[] => commandLines().filter((line) => line.includes(joinPath(uploads, 'upload-')));

/** The command lines of all processes; bare Linux machines have no `ps`, macOS has no /proc. */
function commandLines(): string[] {
  if (!existsSync('/proc/self/cmdline')) {
    return execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' }).split('\n');
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => commandOf(Number(pid)));
}

/** Checks that no process and no file is left. */
function nothingLeft(t: Test): void {
  t.same(readdirSync(uploads), [], 'no file is left');
  t.same(decoders(), [], 'no process is left');
}

interface Way {
  readonly options: Partial<DecodeOptions>;
  readonly skip: string | false;
  /** Containers that are decoded whole. */
  readonly tones: readonly ToneFile[];
  /** Whether all other files are decoded, too, cut short, unreadable, or of hours; else one or a few of each kind. */
  readonly all: boolean;
}

/** Those that the build from npm does not know. */
const AAC_FILES: readonly ToneFile[] = ['tone.m4a', 'tone.aac'];

const WAYS: Record<string, Way> = {
  'an ffmpeg that the operator names': {
    options: { ffmpegPath: externalTool('ffmpeg') },
    skip: skipSystem,
    tones: shortOrLong(AAC_FILES, TONE_FILES),
    all: shortOrLong(false, true),
  },
  'only what npm brings': { options: {}, skip: false, tones: TONE_FILES, all: true },
  'node-av alone': {
    options: { ffmpegPath: doesNotRun },
    skip: false,
    tones: TONE_FILES,
    all: shortOrLong(false, true),
  },
};

/** The sign of the same tone in each channel, and the peak of what is heard. */
const CHANNELS: Record<string, { channels: readonly number[]; peak: number }> = {
  'channel 4 of 6, a subwoofer for most': { channels: [0, 0, 0, 1, 0, 0], peak: 8000 },
  'channel 4 of 8': { channels: [0, 0, 0, 1, 0, 0, 0, 0], peak: 8000 },
  'channel 3 of 5': { channels: [0, 0, 1, 0, 0], peak: 8000 },
  'opposite phases': { channels: [1, -1], peak: 8000 },
};

/** Seconds of silence in files whose audio begins late, or has a gap. */
const CLOCKS: Record<string, readonly [from: number, to: number]> = {
  'begins-at-3s.mp4': [0, 3],
  'pause.webm': [1.1, 3],
};

const bomb = fixture(HOURS_FILE);

const half = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length / 2);
const noise = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 7919 + (i >> 3)) % 251);

/** Known containers without readable audio. */
const UNREADABLE: Record<string, Uint8Array> = {
  'WAV header alone': wavHeader(RATE),
  'half a WAV header': wavHeader(RATE).subarray(0, 20),
  'WAV at 0 Hz': wavFile({ rate: 0, data: noise(1000) }),
  'MP4 header alone': fixture('tone.m4a').subarray(0, 32),
  'MP4 without its index': half(fixture('tone.m4a')),
  'FLAC magic and noise': Buffer.concat([Buffer.from('fLaC'), noise(5000)]),
  'Ogg magic and noise': Buffer.concat([Buffer.from('OggS'), noise(5000)]),
  'WebM magic and noise': Buffer.concat([Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3), noise(5000)]),
  'MP4 magic and a playlist': Buffer.from('\0\0\0\x18ftypM4A #EXTM3U\nhttp://127.0.0.1/x.m4a\n', 'latin1'),
  'video without sound': fixture('silent-video.mp4'),
};

/** One that does not open, one without an index, one without audio. */
const FEW_UNREADABLE = ['Ogg magic and noise', 'MP4 without its index', 'video without sound'];

/** Files for which no process is started. */
const STRANGERS: Record<string, string> = {
  empty: '',
  'an HLS playlist': '#EXTM3U\n#EXTINF:10,\nhttp://169.254.169.254/latest/meta-data\n',
  'a concat script': "ffconcat version 1.0\nfile '/etc/passwd'\n",
  text: 'this is a text',
  PNG: '\x89PNG\r\n\x1a\n',
  ZIP: 'PK\x03\x04',
};

const unreadable = { name: 'ServiceError', code: 'audio_unreadable', status: 400 };
const tooLong = { name: 'ServiceError', code: 'audio_too_long', status: 413 };

/** Rules about files that contain hours, or claim to; for the second, a minute is the limit. */
function cutsHoursOff(t: Test, options: Partial<DecodeOptions>): void {
  t.test('a file that holds hours is cut off while it is decoded', async (t) => {
    t.ok(bomb.length < 2 ** 20);
    let bytes = 0;
    await rejectsExactly(
      t,
      async () => {
        for await (const samples of decoder(options)(bomb, anybody, neverAborted))
          bytes += samples.byteLength;
      },
      tooLong,
    );
    t.ok(bytes > HOUR_BYTES * 0.99 && bytes < HOUR_BYTES * 1.01, `${bytes} bytes came before`);
  });

  t.test('a duration that a header claims counts as well: a thousand samples a second', (t) => {
    const minute = decoder({ ...options, limits: { pcmBytes: HOUR_BYTES / 60 } });
    return rejectsExactly(
      t,
      decodeAll(minute, wavFile({ rate: 1000, data: new Uint8Array(2000 * 61) })),
      tooLong,
    );
  });
}

for (const [way, { options, skip, tones, all }] of Object.entries(WAYS)) {
  t.test(way, { skip }, async (t) => {
    const decode = decoder(options);

    for (const name of tones) {
      t.test(`${name} is one second of its tone`, async (t) => {
        const samples = await decodeAll(decode, fixture(name));
        t.ok(Math.abs(samples.length / RATE - 1) < 0.1, `${samples.length / RATE} s`);
        t.ok(Math.abs(frequencyOf(samples.subarray(3200, 12_800), RATE) - 440) < 5);
        t.ok(peakOf(samples) > 2000);
      });
    }

    t.test('our own WAV decodes whole, in spite of its placeholder sizes', async (t) => {
      const samples = await decodeAll(decode, Buffer.concat([wavHeader(RATE), bytesOf(tone(RATE, 1.5))]));
      t.equal(samples.length, 1.5 * RATE);
    });

    t.test('other rates are resampled and channels mixed', async (t) => {
      const interleaved = new Int16Array(2 * 44_100);
      tone(44_100, 1).forEach((sample, i) => (interleaved[2 * i] = sample));
      const file = wavFile({ rate: 44_100, channels: 2, data: bytesOf(interleaved) });
      const samples = await decodeAll(decode, file);
      t.ok(Math.abs(samples.length - RATE) < 50);
      t.ok(Math.abs(peakOf(samples) - 4000) < 300, 'the mean of both channels');
    });

    for (const [name, { channels, peak }] of Object.entries(CHANNELS)) {
      t.test(`heard: ${name}`, async (t) => {
        const data = new Int16Array(channels.length * RATE);
        tone(RATE, 1).forEach((sample, at) =>
          channels.forEach((sign, channel) => (data[at * channels.length + channel] = sign * sample)),
        );
        const file = wavFile({ rate: RATE, channels: channels.length, data: bytesOf(data) });
        const samples = await decodeAll(decode, file);
        t.equal(samples.length, RATE);
        t.ok(Math.abs(peakOf(samples) - peak) < 100, `${peakOf(samples)}`);
      });
    }

    for (const [name, [from, to]] of Object.entries(CLOCKS)) {
      t.test(`${name} keeps its clock`, async (t) => {
        const samples = await decodeAll(decode, fixture(name));
        const isQuiet = peakOf(samples.subarray(from * RATE, (to - 0.05) * RATE)) < 100;
        t.ok(isQuiet && peakOf(samples.subarray(to * RATE, (to + 0.5) * RATE)) > 1000);
      });
    }

    t.test('a file that was cut short gives what it holds', async (t) => {
      for (const name of all ? TONE_FILES.filter((name) => name !== 'tone.m4a') : AAC_FILES.slice(1)) {
        const file = fixture(name);
        const samples = await decodeAll(decode, file.subarray(0, file.length * 0.8));
        t.ok(
          samples.length > 0.2 * RATE && samples.length < 0.95 * RATE,
          `${name}: ${samples.length / RATE} s`,
        );
      }
    });

    t.test('an MP3 that begins in the middle of a frame, or behind zeros, is decoded', async (t) => {
      const file = fixture('tone.mp3');
      const cut = file.subarray(file.length * 0.2 + 50);
      for (const part of [cut, Buffer.concat([Buffer.alloc(5000), cut])]) {
        const samples = await decodeAll(decode, part);
        t.ok(samples.length > 0.6 * RATE && samples.length < 0.95 * RATE, `${samples.length / RATE} s`);
        t.ok(Math.abs(frequencyOf(samples.subarray(3200, 9600), RATE) - 440) < 5);
      }
    });

    for (const name of all ? Object.keys(UNREADABLE) : FEW_UNREADABLE) {
      t.test(`unreadable: ${name}`, (t) =>
        rejectsExactly(t, decodeAll(decode, UNREADABLE[name]!), unreadable),
      );
    }

    if (all) cutsHoursOff(t, options);

    t.test('a reader who leaves takes the process along', async (t) => {
      for await (const samples of decode(bomb, anybody, neverAborted)) {
        t.ok(samples.length > 0);
        t.equal(decoders().length, 1, 'the process runs while it is read');
        break;
      }
      nothingLeft(t);
    });

    t.test('an abort takes the process along', async (t) => {
      const gone = new AbortController();
      await rejectsExactly(
        t,
        async () => {
          for await (const _samples of decode(bomb, anybody, gone.signal)) gone.abort(new Error('gone'));
        },
        { message: 'gone' },
      );
      nothingLeft(t);
    });

    t.test('no process and no file is left', async (t) => nothingLeft(t));
  });
}

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
