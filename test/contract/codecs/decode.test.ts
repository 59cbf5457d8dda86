/**
 * Decoding uploads in real processes: with an ffmpeg of the system, with the build from npm, and with
 * node-av alone. Every container, hostile files, and that no failure leaves anything behind.
 */
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { bytesOf } from '../../../contracts/audio.js';
import { type DecodeOptions } from '../../../codecs/decode/decoder.js';
import { wavHeader } from '../../../codecs/wav.js';
import {
  fixture,
  frequencyOf,
  peakOf,
  tone,
  TONE_FILES,
  type ToneFile,
  wavFile,
} from '../../fixtures/codecs/audio.js';
import {
  anybody,
  bomb,
  decodeAll,
  decoder,
  decoders,
  doesNotRun,
  neverAborted,
  nothingLeft,
  RATE,
  tooLong,
  unreadable,
} from '../../fixtures/codecs/decoding.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { externalTool, skipReason } from '../../fixtures/external.js';
import { shortOrLong } from '../../fixtures/long.js';

const HOUR_BYTES = 3600 * RATE * 2;

// Comes first, since it may throw: nothing has to be cleaned up yet.
const skipSystem = skipReason('ffmpeg');

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
