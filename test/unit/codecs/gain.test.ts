/** Volume and loudness of synthesised speech. */
import t from '../../fixtures/tap.js';
import { bytesOf, joinSamples, type LevelOptions } from '../../../contracts/audio.js';
import type { JobRunner } from '../../../contracts/ports/jobs.js';
import { createEncode } from '../../../codecs/encode/encoder.js';
import { changesLevel, Level } from '../../../codecs/gain.js';
import { chunked, collect, peakOf, rmsOf, tone } from '../../fixtures/codecs/audio.js';

const never: JobRunner = {
  runJob() {
    throw new Error('a child was asked');
  },
};

async function levelled(
  samples: Int16Array,
  volume: number,
  normalizeLoudness: boolean,
): Promise<Int16Array> {
  const level = new Level({ volume, normalizeLoudness });
  const chunks = await collect(chunked(samples, 1600));
  return joinSamples(chunks.map((chunk) => level.apply(chunk)));
}

t.test('volume is in dB, keeps every sample, and never clips', async (t) => {
  const quiet = tone(16_000, 1, 440, 1000);
  const before = Int16Array.from(quiet);
  t.ok(Math.abs(peakOf(await levelled(quiet, 6, false)) - 1995) < 10, '+6 dB');
  t.ok(Math.abs(peakOf(await levelled(quiet, -20, false)) - 100) < 2, '-20 dB');
  t.same(quiet, before, 'the input is left alone');
  const loud = await levelled(tone(16_000, 1, 440, 20_000), 20, false);
  t.equal(loud.length, 16_000);
  t.ok(peakOf(loud) <= 32_400);
  const atCeiling = loud.filter((sample) => Math.abs(sample) > 32_300).length;
  t.ok(atCeiling < loud.length * 0.1, `a sine keeps its shape: ${atCeiling} samples at the ceiling`);
});

t.test('quiet and loud speech come out equally loud, and silence stays silence', async (t) => {
  const levels = await Promise.all(
    [2000, 6000, 16_000].map(async (amplitude) =>
      rmsOf(await levelled(tone(16_000, 2, 300, amplitude), 0, true)),
    ),
  );
  for (const level of levels) t.ok(Math.abs(20 * Math.log10(level / levels[0]!)) < 1, `${level}`);
  t.equal(peakOf(await levelled(new Int16Array(16_000), 0, true)), 0);
});

t.test('a sudden peak is not clipped by the control of loudness', async (t) => {
  const quiet = tone(16_000, 1, 300, 1000);
  const loud = tone(16_000, 1, 300, 32_767);
  const both = joinSamples([quiet, loud]);
  for (const volume of [0, 20]) {
    const peak = peakOf(await levelled(both, volume, true));
    t.ok(peak <= 32_400, `${volume} dB: ${peak}`);
  }
  const extreme = Int16Array.from({ length: 16_000 }, (_, index) => (index % 200 < 100 ? 32_767 : -32_768));
  const square = await levelled(extreme, 20, false);
  t.ok(
    square.every((sample, index) => Math.sign(sample) === Math.sign(extreme[index]!)),
    'nothing wraps around',
  );
});

t.test('PCM passes through at its level, and unchanged if there is nothing to change', async (t) => {
  const samples = tone(16_000, 0.5, 300, 1000);
  const signal = new AbortController().signal;
  const output = { format: 'pcm', sampleRate: 16_000 } as const;
  const passed = async (level: LevelOptions) =>
    collect(createEncode(never)(chunked(samples, 1600), 16_000, output, signal, { level }));
  const neutral = { volume: 0, normalizeLoudness: false };
  t.notOk(changesLevel(neutral));
  t.ok((await passed(neutral)).every((chunk) => chunk.buffer === samples.buffer));
  const louder = Buffer.concat(await passed({ volume: 6, normalizeLoudness: false }));
  t.same(louder, Buffer.from(bytesOf(await levelled(samples, 6, false))));
});
