/**
 * Speeds that an engine lacks (decision 4): the length follows the speed and the pitch stays; the engine speaks at the
 * speeds that it has, and the times of words match the resulting audio.
 */
import t from '../../fixtures/tap.js';
import { createEncode } from '../../../codecs/encode/encoder.js';
import { type EncodeArgs, encodeJobs } from '../../../codecs/encode/jobs.js';
import { openSink } from '../../../codecs/encode/sinks.js';
import { resolveOutput } from '../../../codecs/formats.js';
import { encoderDelaySeconds } from '../../../codecs/encoder-delay.js';
import { progressOf } from '../../../codecs/progress.js';
import { TimeStretch } from '../../../codecs/stretch.js';
import {
  BYTES_PER_SAMPLE,
  bytesOf,
  MP3_BITRATES,
  type OutputFormat,
  samplesOf,
} from '../../../contracts/audio.js';
import type { JobHandler } from '../../../contracts/ports/jobs.js';
import type { SpeechOptions } from '../../../contracts/ports/speech/speech.js';
import type { TtsCapabilities, TtsEngine } from '../../../contracts/ports/speech/tts.js';
import { createToneSpeech } from '../../../engines/backends/tone/index.js';
import { paceOf } from '../../../engines/pace.js';
import { createRegistry } from '../../../engines/registry.js';
import { createSpeech } from '../../../engines/synthesize.js';
import { engineVoices } from '../../../engines/voices.js';
import { inProcess } from '../../fixtures/in-process.js';
import { chunked, collect, frequencyOf, tone } from '../../fixtures/codecs/audio.js';
import { throwsExactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';

const RATE = 16_000;
const SPEEDS = [0.25, 0.3, 0.5, 0.8, 1.25, 2, 3, 4];
const neverAborted = new AbortController().signal;

/** Sends samples through a stretcher in chunks of `length`. */
function stretched(samples: Int16Array, speed: number, length: number, rate = RATE): Int16Array {
  const stretch = new TimeStretch(rate, speed);
  const parts: Buffer[] = [];
  for (let start = 0; start < samples.length; start += length) {
    parts.push(stretch.push(Buffer.from(bytesOf(samples.subarray(start, start + length)))));
  }
  parts.push(stretch.finish());
  stretch.free();
  stretch.free();
  return samplesOf(Buffer.concat(parts));
}

const largestStep = (samples: Int16Array): number =>
  samples.reduce((most, sample, i) => Math.max(most, Math.abs(sample - (samples[i - 1] ?? sample))), 0);

for (const speed of SPEEDS) {
  t.test(`at speed ${speed} a tone is as much shorter, of the same pitch, without a click`, async (t) => {
    for (const rate of [16_000, 22_050, 44_100]) {
      const input = tone(rate, 3);
      const output = stretched(input, speed, 1000, rate);
      const name = `${rate} Hz`;
      t.equal(output.length, Math.round(input.length / speed), `${name}: the length`);
      t.ok(
        Math.abs(frequencyOf(output, rate) - 440) < 440 * 0.01,
        `${name}: ${frequencyOf(output, rate)} Hz`,
      );
      const step = largestStep(output) / largestStep(input);
      t.ok(step < 1.25, `${name}: the steepest place is ${step} times the tone's`);
    }
  });

  t.test(`at speed ${speed} a sound is heard where it belongs`, async (t) => {
    const input = new Int16Array(RATE * 3);
    input.set(tone(RATE, 1), RATE);
    const output = stretched(input, speed, 1000);
    const loud = (sample: number): boolean => Math.abs(sample) > 4000;
    const begin = output.findIndex(loud) / RATE;
    const end = output.findLastIndex(loud) / RATE;
    // The filter's window: 50 ms of the longer sound, the original or the stretched one.
    const most = 0.05 * Math.max(1, 1 / speed);
    const near = (second: number, wanted: number): boolean => Math.abs(second - wanted / speed) < most;
    t.ok(near(begin, 1) && near(end, 2), `from ${begin} to ${end} s`);
  });
}

t.test('stretching loses no sample, however short the sound and whatever the chunks', async (t) => {
  for (const speed of SPEEDS) {
    for (const seconds of [0, 0.001, 0.02, 0.1, 0.35]) {
      const input = tone(RATE, seconds);
      const wanted = Math.round(input.length / speed);
      t.equal(stretched(input, speed, 100).length, wanted, `${seconds} s at ${speed}`);
    }
  }
});

const job = encodeJobs['encode'] as JobHandler;

t.test('stretched audio leaves in small pieces, even at a quarter of the speed', async (t) => {
  const output = resolveOutput({ format: 'pcm', sampleRate: 44_100 });
  async function* once(): AsyncGenerator<Uint8Array> {
    yield bytesOf(tone(RATE, 10));
  }
  const args: EncodeArgs = { rate: RATE, output, speed: 0.25 };
  const pieces = (await collect(job(args as never, once(), { signal: neverAborted }))) as Uint8Array[];
  const longest = Math.max(...pieces.map(({ length }) => length)) / BYTES_PER_SAMPLE / 44_100;
  t.ok(longest < 1, `one turn makes ${longest} s`);
});

const MiB = 2 ** 20;

t.test('those who leave half-way leave no native memory behind', async (t) => {
  const piece = bytesOf(tone(RATE, 0.25));
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield piece;
  }
  const cycle = async (times: number): Promise<number> => {
    for (let i = 0; i < times; i++) {
      const args: EncodeArgs = {
        rate: RATE,
        output: resolveOutput({ format: 'pcm' }),
        speed: i % 2 ? 0.3 : 3,
      };
      for await (const _bytes of job(args as never, endless(), { signal: neverAborted })) break;
    }
    return process.memoryUsage.rss();
  };
  const warm = await cycle(150);
  const grown = (await cycle(600)) - warm;
  t.ok(grown < 40 * MiB, `600 abandoned streams hold ${(grown / MiB).toFixed(1)} MiB`);
});

t.test('a speed that cannot be is refused', async (t) => {
  for (const speed of [0, -1, 17, Number.NaN, Infinity])
    throwsExactly(t, () => new TimeStretch(RATE, speed), new RangeError(`speed ${speed}`));
});

const able = (abilities: Partial<TtsCapabilities>): TtsCapabilities => ({
  ...createToneSpeech().capabilities,
  ...abilities,
});

t.test('the engine does what it can, time-stretching does the rest', async (t) => {
  const ranged = able({ speed: true, speedRange: { min: 0.5, max: 2 } });
  t.same(paceOf(able({ speed: false }), 0.7), { own: 1, stretch: 0.7 });
  t.same(paceOf(able({ speed: true }), 4), { own: 4, stretch: 1 });
  t.same(paceOf(ranged, 1.2), { own: 1.2, stretch: 1 });
  t.same(paceOf(ranged, 4), { own: 2, stretch: 2 });
  t.same(paceOf(ranged, 0.25), { own: 0.5, stretch: 0.5 });
});

/** The whole pipeline with one engine. */
const speechOf = (engine: TtsEngine) =>
  createSpeech({
    registry: createRegistry({ tts: [engine], stt: [] }),
    voices: engineVoices([engine]),
    admission: {
      reserve: () => Promise.resolve(() => undefined),
      enter: () => Promise.resolve(() => {}),
      check: () => Promise.resolve(),
      use: () => {},
    },
    encode: createEncode(inProcess(encodeJobs)),
  });

const request = (speed: number): SpeechOptions & { text: string } => ({
  text: 'One small step for a man. One giant leap, for mankind! Third.',
  model: 's1',
  voice: '',
  references: [],
  output: resolveOutput({ format: 'pcm', sampleRate: RATE }),
  latency: 'balanced',
  speed,
  volume: 0,
  normalizeLoudness: false,
  chunkLength: 300,
  sampling: {},
});

const caller = { workspaceId: 'w', keyId: 'k' };

async function timed(speed: number) {
  const chunks = await collect(
    speechOf(createToneSpeech()).synthesizeTimed(request(speed), caller, neverAborted),
  );
  const pieces = [...new Map(chunks.map(({ piece }) => [piece.index, piece])).values()];
  const seconds = chunks.reduce((sum, { audio }) => sum + audio.length, 0) / BYTES_PER_SAMPLE / RATE;
  const words = pieces.flatMap(({ offset, words = [] }) => words.map(({ start }) => offset + start));
  return { seconds, words, pieces };
}

t.test('the times of pieces and words follow the speed', async (t) => {
  const plain = await timed(1);
  t.ok(plain.words.length > 8);
  for (const speed of [0.5, 2]) {
    const { seconds, words, pieces } = await timed(speed);
    t.ok(Math.abs(seconds * speed - plain.seconds) < 0.01, `${seconds} s`);
    t.ok(words.every((start, i) => Math.abs(start * speed - (plain.words[i] ?? -1)) < 0.001));
    t.equal(words.length, plain.words.length);
    const last = pieces.at(-1);
    t.ok(last && Math.abs(last.offset + last.duration - seconds) < 0.01, 'they end with the audio');
  }
});

t.test('only an engine that can is asked for another speed', async (t) => {
  for (const [abilities, wanted] of [
    [{ speed: false }, 1],
    [{ speed: true }, 3],
    [{ speed: true, speedRange: { min: 0.5, max: 2 } }, 2],
  ] as const) {
    const asked: number[] = [];
    const inner = createToneSpeech();
    const engine: TtsEngine = {
      ...inner,
      capabilities: able(abilities),
      synthesize(clause, signal) {
        asked.push(clause.speed);
        return inner.synthesize(clause, signal);
      },
    };
    await collect(speechOf(engine).synthesize(request(3), caller, neverAborted));
    t.ok(asked.length > 0 && asked.every((speed) => speed === wanted), `${asked.join()}`);
  }
});

/** Seconds before the first sample in decoded audio: LAME's delay, Opus's pre-skip. */
const leadSeconds = ({ format, sampleRate }: OutputFormat): number =>
  format === 'mp3' ? 1105 / sampleRate : 312 / 48_000;

/** Seconds of encoded audio that are sent for speech followed by silence, while the stream is still open. */
async function sentSeconds(speech: Int16Array, output: OutputFormat, speed: number): Promise<number> {
  const sink = openSink(RATE, output, speed);
  const progress = progressOf(output);
  const silence = new Int16Array(encoderDelaySeconds(output, speed) * speed * RATE);
  let seconds = 0;
  for (const chunk of [...(await collect(chunked(speech, RATE / 10))), silence])
    seconds = progress(sink.push(Buffer.from(bytesOf(chunk))));
  sink.free();
  return seconds;
}

t.test('the silence that is held back brings out all speech before it', async (t) => {
  const outputs = [
    ...[32_000, 44_100].flatMap((sampleRate) =>
      MP3_BITRATES.map((mp3Bitrate) => resolveOutput({ format: 'mp3', sampleRate, mp3Bitrate })),
    ),
    resolveOutput({ format: 'opus' }),
    resolveOutput({ format: 'opus', opusBitrate: 24_000 }),
  ];
  for (const [index, output] of outputs.entries()) {
    const stretched = [0.3, 0.8, 2];
    // Each output at the speech's own speed and one other; the long form has all.
    for (const speed of [1, ...shortOrLong([stretched[index % 3]!], stretched)]) {
      for (let seconds = 0.5; seconds < 0.62; seconds += shortOrLong(0.0411, 0.0137)) {
        const sent = (await sentSeconds(tone(RATE, seconds), output, speed)) - leadSeconds(output);
        if (sent < seconds / speed)
          t.fail(`${JSON.stringify(output)} at ${speed}: ${sent} of ${seconds / speed}`);
      }
    }
    t.pass(`${output.format} ${output.sampleRate} ${output.mp3Bitrate ?? output.opusBitrate ?? ''}`);
  }
});
