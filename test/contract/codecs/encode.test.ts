/**
 * Encoding in a real `encode` child: every format and rate of rule 8, decoded independently; packets while
 * speech still arrives; callers that leave leave nothing behind.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import t from '../../fixtures/tap.js';
import {
  type AudioFormat,
  bytesOf,
  MP3_BITRATES,
  type OutputFormat,
  samplesOf,
} from '../../../contracts/audio.js';
import type { JobHandler } from '../../../contracts/ports/jobs.js';
import { createEncode } from '../../../codecs/encode/encoder.js';
import { encodeJobs } from '../../../codecs/encode/jobs.js';
import { FORMATS, resolveOutput } from '../../../codecs/formats.js';
import { chunked, collect, frequencyOf, peakOf, tone } from '../../fixtures/codecs/audio.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { skipReason } from '../../fixtures/external.js';
import { shortOrLong } from '../../fixtures/long.js';
import { productChild } from '../../fixtures/processes/product-child.js';

const SECONDS = 1.25;
const ENGINE_RATES = [16_000, 22_050, 24_000, 44_100];
const WAV_HEADER_BYTES = 44;

// Comes first, since it may throw: nothing has to be stopped yet.
const skip = skipReason('ffmpeg');

const folder = mkdtempSync(joinPath(tmpdir(), 'encode-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const { pool } = await productChild(t, 'encode', 'encode');
const encode = createEncode(pool);
const signal = new AbortController().signal;

const encodeTone = async (rate: number, output: OutputFormat, seconds = SECONDS): Promise<Buffer> =>
  Buffer.concat(await collect(encode(chunked(tone(rate, seconds), rate / 10), rate, output, signal)));

const outputs = (Object.keys(FORMATS) as AudioFormat[]).flatMap((format) =>
  FORMATS[format].rates.map((sampleRate) => resolveOutput({ format, sampleRate })),
);

interface Probe {
  readonly codec: string;
  readonly rate: number;
  readonly mono: boolean;
  readonly samples: Int16Array;
}

const CODECS: Record<AudioFormat, string> = { mp3: 'mp3', wav: 'pcm_s16le', pcm: 'pcm_s16le', opus: 'opus' };
/** Extra seconds for a decoder that ignores the encoder delay: LAME's delay, and the padding of the last frame. */
const LATE_SECONDS: Record<AudioFormat, number> = { mp3: 0.11, wav: 0.003, pcm: 0.003, opus: 0.003 };

/** What ffmpeg says of each input: `Stream #0:0: Audio: mp3 (mp3float), 44100 Hz, mono, …`. */
const STREAMS = /Input.*?Audio: (\w+)\b.*?, (\d+) Hz, (mono)?/gs;

interface Encoded {
  readonly bytes: Buffer;
  readonly output: OutputFormat;
}

/** The file as an input of ffmpeg, and its samples as an output of it. */
function argsOf({ bytes, output: { format, sampleRate } }: Encoded, index: number) {
  const file = joinPath(folder, `${index}.${format}`);
  writeFileSync(file, bytes);
  const raw = ['-f', 's16le', '-ar', String(sampleRate)];
  const samples = joinPath(folder, `${index}.samples`);
  return {
    input: [...(format === 'pcm' ? raw : []), '-i', file],
    output: ['-map', String(index), ...raw, samples],
    samples,
  };
}

/** Formats and samples as read by an independent ffmpeg: one for all, since most of its time is its start. */
function probe(encoded: readonly Encoded[]): Probe[] {
  const args = encoded.map(argsOf);
  const all = [...args.flatMap(({ input }) => input), ...args.flatMap(({ output }) => output)];
  const { stderr } = spawnSync('ffmpeg', ['-nostdin', ...all], { maxBuffer: 2 ** 26 });
  const shapes = [...stderr.toString().matchAll(STREAMS)];
  return args.map(({ samples }, index) => {
    const [, codec = '', rate, mono] = shapes[index] ?? [];
    return { codec, rate: Number(rate), mono: mono !== undefined, samples: samplesOf(readFileSync(samples)) };
  });
}

t.test('every format and rate decodes independently', { skip }, async (t) => {
  // Each output and each rate once; all pairs in the long form.
  const pairs = outputs.flatMap((output, index) =>
    shortOrLong([ENGINE_RATES[index % ENGINE_RATES.length]!], ENGINE_RATES).map((rate) => ({ output, rate })),
  );
  const encoded: Encoded[] = [];
  for (const { output, rate } of pairs) encoded.push({ output, bytes: await encodeTone(rate, output) });
  for (const [index, { codec, samples, ...shape }] of probe(encoded).entries()) {
    const { output, rate } = pairs[index]!;
    const name = `${output.format} ${output.sampleRate} from ${rate}`;
    t.equal(codec, CODECS[output.format], name);
    exactly(t, shape, { rate: output.sampleRate, mono: true }, name);
    const late = samples.length / output.sampleRate - SECONDS;
    t.ok(late > -0.003 && late < LATE_SECONDS[output.format], `${name}: ${late} s too long`);
    const middle = samples.subarray(output.sampleRate * 0.25, output.sampleRate);
    t.ok(Math.abs(frequencyOf(middle, output.sampleRate) - 440) < 5, `${name}: the tone`);
  }
});

t.test('PCM and WAV keep every sample, whatever the rates', async (t) => {
  for (const rate of ENGINE_RATES) {
    for (const sampleRate of FORMATS.pcm.rates) {
      const pcm = await encodeTone(rate, { format: 'pcm', sampleRate });
      const wav = await encodeTone(rate, { format: 'wav', sampleRate });
      t.ok(Math.abs(pcm.length / 2 - SECONDS * sampleRate) <= sampleRate * 0.002, `${rate} to ${sampleRate}`);
      t.same(wav.subarray(WAV_HEADER_BYTES), pcm);
      t.equal(wav.readUInt32LE(24), sampleRate);
    }
  }
});

/** Bit rates in kbit/s and sample rates in Hz of MPEG 1, layer III, by their index in the header. */
const KBPS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const FREQUENCIES = [44_100, 48_000, 32_000];
const FRAME_SAMPLES = 1152;

interface Mp3Frame {
  readonly kbps: number;
  readonly rate: number;
  readonly length: number;
}

function mp3FrameAt(bytes: Buffer, at: number): Mp3Frame {
  if (bytes[at] !== 0xff || bytes[at + 1] !== 0xfb) throw new Error(`no frame at byte ${at}`);
  const kbps = KBPS[bytes[at + 2]! >> 4]!;
  const rate = FREQUENCIES[(bytes[at + 2]! >> 2) & 3]!;
  const padding = (bytes[at + 2]! >> 1) & 1;
  return { kbps, rate, length: Math.floor((144 * kbps * 1000) / rate) + padding };
}

function mp3Frames(bytes: Buffer): Mp3Frame[] {
  const frames: Mp3Frame[] = [];
  for (let at = 0; at < bytes.length; at += frames.at(-1)!.length) frames.push(mp3FrameAt(bytes, at));
  return frames;
}

t.test('MP3 is bare frames of a constant bitrate: no ID3, no Xing or Info frame', async (t) => {
  for (const sampleRate of FORMATS.mp3.rates) {
    for (const mp3Bitrate of MP3_BITRATES) {
      const bytes = await encodeTone(16_000, { format: 'mp3', sampleRate, mp3Bitrate });
      const frames = mp3Frames(bytes);
      const seconds = (frames.length * FRAME_SAMPLES) / sampleRate;
      t.ok(frames.every(({ kbps, rate }) => kbps === mp3Bitrate && rate === sampleRate));
      t.ok(seconds >= SECONDS && seconds < SECONDS + 0.12, `${seconds} s`);
      for (const tag of ['ID3', 'Xing', 'Info', 'VBRI', 'TAG']) t.notOk(bytes.includes(tag), tag);
    }
  }
});

t.test('Opus is a whole Ogg stream', async (t) => {
  const bytes = await encodeTone(16_000, resolveOutput({ format: 'opus' }));
  t.equal(bytes.toString('latin1', 0, 4), 'OggS');
  t.ok(bytes.includes('OpusHead') && bytes.includes('OpusTags'));
  const low = await encodeTone(16_000, resolveOutput({ format: 'opus', opusBitrate: 24_000 }));
  t.ok(low.length < bytes.length, 'an asked bitrate is kept');
});

for (const output of outputs) {
  t.test(`${output.format} at ${output.sampleRate} leaves while speech still arrives`, async (t) => {
    let heard = (): void => undefined;
    const firstByte = new Promise<void>((resolve) => (heard = resolve));
    async function* speech(): AsyncGenerator<Int16Array> {
      yield* chunked(tone(22_050, 0.5), 2205);
      await firstByte;
      yield* chunked(tone(22_050, 0.5), 2205);
    }
    let bytes = 0;
    for await (const chunk of encode(speech(), 22_050, output, signal)) {
      bytes += chunk.length;
      if (bytes > WAV_HEADER_BYTES) heard();
    }
    t.ok(bytes > 4000);
  });
}

t.test('no speech at all: no error, and nothing but what the format begins with', async (t) => {
  for (const output of outputs) {
    const bytes = await encodeTone(16_000, output, 0);
    t.ok(bytes.length < 1500, `${output.format} ${output.sampleRate}: ${bytes.length} bytes`);
  }
});

t.test('one enormous chunk is encoded like many small ones', async (t) => {
  const samples = tone(24_000, 20);
  const output = resolveOutput({ format: 'mp3' });
  const whole = await collect(encode(chunked(samples, samples.length), 24_000, output, signal));
  const small = await collect(encode(chunked(samples, 2400), 24_000, output, signal));
  t.ok(whole.length > 20, 'it comes out in pieces');
  t.ok(Buffer.concat(whole).equals(Buffer.concat(small)));
});

t.test('an encode child controls the level as the gateway does', async (t) => {
  const samples = tone(16_000, 0.5, 300, 1000);
  const output = resolveOutput({ format: 'pcm', sampleRate: 24_000 });
  const peaks = [0, 6].map(async (volume) => {
    const level = { volume, normalizeLoudness: false };
    const bytes = await collect(encode(chunked(samples, 1600), 16_000, output, signal, { level }));
    return peakOf(samplesOf(Buffer.concat(bytes)));
  });
  const [plain = 0, louder = 0] = await Promise.all(peaks);
  t.ok(Math.abs(louder / plain - 10 ** (6 / 20)) < 0.02, `${plain} becomes ${louder}`);
});

t.test('a failing source fails its stream only, not the child', async (t) => {
  async function* broken(): AsyncGenerator<Int16Array> {
    yield tone(16_000, 1);
    throw new Error('the engine broke');
  }
  const reading = collect(encode(broken(), 16_000, resolveOutput({ format: 'mp3' }), signal));
  await rejectsExactly(t, reading, { message: 'the engine broke' });
  t.ok((await encodeTone(16_000, resolveOutput({ format: 'mp3' }))).length > 0);
});

t.test('an abort ends the stream at once, though its source is silent', async (t) => {
  const gone = new AbortController();
  async function* stalled(): AsyncGenerator<Int16Array> {
    yield tone(16_000, 1);
    await new Promise<never>(() => undefined);
  }
  const reading = collect(encode(stalled(), 16_000, resolveOutput({ format: 'mp3' }), gone.signal));
  gone.abort(new Error('gone'));
  await rejectsExactly(t, reading, { message: 'gone' });
});

const MiB = 2 ** 20;

t.test('callers that leave half-way leave no native memory behind', async (t) => {
  const job = encodeJobs['encode'] as JobHandler;
  const piece = bytesOf(tone(16_000, 0.25));
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield piece;
  }
  const leaveHalfWay = async (output: OutputFormat): Promise<void> => {
    const reading = job({ rate: 16_000, output } as never, endless(), { signal });
    for await (const _bytes of reading) break;
  };
  const cycle = async (times: number): Promise<number> => {
    for (let i = 0; i < times; i++) {
      await leaveHalfWay(resolveOutput({ format: 'mp3' }));
      await leaveHalfWay(resolveOutput({ format: 'opus' }));
    }
    return process.memoryUsage.rss();
  };
  const warm = await cycle(50);
  const grown = (await cycle(150)) - warm;
  t.ok(grown < 40 * MiB, `300 abandoned encoders hold ${(grown / MiB).toFixed(1)} MiB`);
});
