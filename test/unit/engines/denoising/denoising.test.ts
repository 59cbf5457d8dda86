/**
 * Noise reduction (engines/denoising): the audio keeps its length and its position, and no failure reaches the
 * transcription. The runtime is the real one, with models of a few nodes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../../fixtures/tap.js';
import { bytesOf, samplesOf } from '../../../../contracts/audio.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { type Log, silentLog } from '../../../../contracts/log.js';
import { type JobRunner, NOBODY } from '../../../../contracts/ports/jobs.js';
import type { RawAudio } from '../../../../contracts/ports/speech/speech.js';
import { DenoiserInChild } from '../../../../engines/denoising/denoiser-in-child.js';
import { loadGtcrn } from '../../../../engines/denoising/gtcrn.js';
import { denoiseJobs, type StreamDenoiser } from '../../../../engines/denoising/jobs.js';
import { inProcess } from '../../../fixtures/in-process.js';
import { readConfig } from '../../../../gateway/config.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';
import { addDenoiser, smallDenoiser } from '../../../fixtures/engines/small-denoiser.js';
import { toneOf } from '../../../fixtures/media/tones.js';
import { until } from '../../../fixtures/until.js';

const RATE = 16_000;
const forever = new AbortController().signal;

/** One second at `rate` with a tone of half a second that begins after a quarter. */
function sound(rate = RATE): Int16Array {
  const samples = new Int16Array(rate);
  const tone = toneOf(500, 440 * (24_000 / rate));
  samples.set(tone.subarray(0, rate / 2), rate / 4);
  return samples;
}

const rawOf = (samples: Int16Array, sampleRate = RATE): RawAudio => {
  const bytes = bytesOf(samples);
  return { chunks: [bytes.subarray(0, 7001), bytes.subarray(7001)], sampleRate };
};
const samplesIn = ({ chunks }: RawAudio): Int16Array => samplesOf(Buffer.concat([...chunks]));

function denoiserOf(runner: JobRunner) {
  const clock = new SimulatedClock();
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_, message) => warnings.push(message) };
  return { denoiser: new DenoiserInChild(runner, clock, log), clock, warnings };
}

function loaded(t: Test, gain: number) {
  const file = join(t.testdir(), 'gtcrn.onnx');
  writeFileSync(file, smallDenoiser(gain));
  let models = 0;
  const load = (): StreamDenoiser => {
    models += 1;
    return loadGtcrn(file);
  };
  return { ...denoiserOf(inProcess(denoiseJobs(load))), models: () => models };
}

t.test('the output has the length of the input, at the same times', async (t) => {
  const { denoiser } = loaded(t, 1);
  for (const rate of [RATE, 24_000, 8000]) {
    const { sampleRate, chunks } = await denoiser.denoise(rawOf(sound(rate), rate), NOBODY, forever);
    const heard = samplesIn({ chunks, sampleRate });
    t.equal(sampleRate, RATE);
    t.equal(heard.length, RATE, `${rate} Hz: a second`);
    const wanted = sound();
    const differs = heard.reduce((worst, sample, at) => Math.max(worst, Math.abs(sample - wanted[at]!)), 0);
    if (rate === RATE) t.ok(differs < 50, `at most ${differs} off`);
  }
});

t.test('what the model takes out is gone; a model is used again, and begins anew', async (t) => {
  const { denoiser, models } = loaded(t, 0);
  for (const seconds of [1, 1, 0.001]) {
    const audio = rawOf(sound().subarray(0, RATE * seconds));
    const heard = samplesIn(await denoiser.denoise(audio, NOBODY, forever));
    t.equal(heard.length, RATE * seconds);
    t.ok(heard.every((sample) => sample === 0));
  }
  t.equal(models(), 1);
  await Promise.all([1, 2].map(() => denoiser.denoise(rawOf(sound()), NOBODY, forever)));
  t.equal(models(), 2, 'streams at once have a model each');
  const none = await denoiser.denoise({ chunks: [], sampleRate: RATE }, NOBODY, forever);
  t.equal(samplesIn(none).length, 0, 'nothing is nothing');
});

t.test('a model that gives too little or too much changes no length', async (t) => {
  for (const extra of [-100, 100]) {
    const model: StreamDenoiser = {
      push: (samples) => samples.subarray(0, samples.length - 200),
      finish: () => new Int16Array(200 + extra),
    };
    const { denoiser } = denoiserOf(inProcess(denoiseJobs(() => model)));
    t.equal(samplesIn(await denoiser.denoise(rawOf(sound()), NOBODY, forever)).length, RATE);
  }
});

t.test('a failure leaves the audio as it was, and is logged once until it works again', async (t) => {
  let fails = true;
  const runner: JobRunner = {
    async *runJob() {
      if (fails) throw new ServiceError('engine_lost');
      yield bytesOf(new Int16Array(RATE));
    },
  };
  const { denoiser, warnings } = denoiserOf(runner);
  const audio = rawOf(sound());
  t.equal(await denoiser.denoise(audio, NOBODY, forever), audio);
  t.equal(await denoiser.denoise(audio, NOBODY, forever), audio);
  t.equal(warnings.length, 1);
  fails = false;
  t.not(await denoiser.denoise(audio, NOBODY, forever), audio);
  fails = true;
  await denoiser.denoise(audio, NOBODY, forever);
  t.equal(warnings.length, 2);
});

t.test('a late answer is given up; a cancelled request is rejected', async (t) => {
  const signals: AbortSignal[] = [];
  const runner: JobRunner = {
    async *runJob(_job, _args, { signal }) {
      signals.push(signal);
      yield new Uint8Array(2);
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    },
  };
  const { denoiser, clock } = denoiserOf(runner);
  const audio = rawOf(sound());
  const late = denoiser.denoise(audio, NOBODY, forever);
  await until('it is asked', () => signals.length === 1);
  clock.advance(1249);
  t.notOk(signals[0]?.aborted);
  clock.advance(1);
  t.equal(await late, audio);
  t.ok(signals[0]?.aborted, 'the child is told');
  const leaver = new AbortController();
  const left = denoiser.denoise(audio, NOBODY, leaver.signal);
  await until('it is asked again', () => signals.length === 2);
  leaver.abort(new Error('left'));
  await rejectsExactly(t, left, { message: 'left' });
});

t.test('the model that was added is taken; what is none is left alone', async (t) => {
  const folder = t.testdir();
  const denoiser = () => readConfig({ MODELS_DIR: folder }).denoiser;
  t.equal(denoiser(), undefined);
  addDenoiser(folder, Buffer.from('no model'));
  t.equal(denoiser(), undefined);
  addDenoiser(folder, smallDenoiser(1, 48_000));
  t.equal(denoiser(), undefined, 'of another rate');
  const file = addDenoiser(folder, smallDenoiser(1));
  t.equal(denoiser(), file);
});
