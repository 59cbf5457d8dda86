/** Mixing down: each channel is heard, wherever it stands and in whatever phase. */
import t from '../../../fixtures/tap.js';
import { joinSamples } from '../../../../contracts/audio.js';
import { EQUAL_MIX, mixChoice, mixDown } from '../../../../codecs/decode/mix-down.js';
import { chunked, collect, peakOf, rmsOf, tone } from '../../../fixtures/codecs/audio.js';

const RATE = 16_000;
const silent = (seconds: number): Int16Array => new Int16Array(RATE * seconds);

/** Interleaves channels of the same length. */
function interleaved(channels: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(channels.length * (channels[0]?.length ?? 0));
  channels.forEach((samples, channel) =>
    samples.forEach((sample, index) => (all[index * channels.length + channel] = sample)),
  );
  return all;
}

/** Mixes in pieces that end in the middle of frames. */
const mixOf = async (channels: readonly Int16Array[]): Promise<Int16Array> =>
  joinSamples(await collect(mixDown(chunked(interleaved(channels), 1001), channels.length)));

const level = (loud: Record<number, number>, count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, channel) => loud[channel] ?? 0);

t.test('one channel passes as it is', async (t) => {
  t.same(await mixOf([tone(RATE, 0.3)]), tone(RATE, 0.3));
});

t.test('channels that agree, and one of two alone, give the mean', async (t) => {
  const sound = tone(RATE, 1.2);
  t.same(await mixOf([sound, sound]), sound);
  t.ok(Math.abs(peakOf(await mixOf([silent(1.2), sound])) - 4000) < 2);
});

t.test('a lone channel of many is as loud as it was recorded, whichever it is', async (t) => {
  const sound = tone(RATE, 1.2);
  for (const count of [4, 6, 8]) {
    for (let alone = 0; alone < count; alone += 1) {
      const channels = Array.from({ length: count }, (_, channel) =>
        channel === alone ? sound : silent(1.2),
      );
      t.ok(Math.abs(peakOf(await mixOf(channels)) - 8000) < 2, `channel ${alone + 1} of ${count}`);
    }
  }
});

t.test('of two who speak at once on two of six channels both are heard', async (t) => {
  const [low, high] = [tone(RATE, 1, 400), tone(RATE, 1, 2000)];
  const mix = await mixOf([silent(1), low, silent(1), silent(1), high, silent(1)]);
  const part = (sound: Int16Array): number =>
    mix.reduce((sum, sample, index) => sum + sample * (sound[index] ?? 0), 0) /
    sound.reduce((sum, sample) => sum + sample ** 2, 0);
  t.ok(part(low) > 0.5 && part(high) > 0.5, `${part(low)} and ${part(high)}`);
});

t.test('opposite phases do not cancel each other, and only they change the mix', async (t) => {
  const sound = tone(RATE, 1);
  const opposite = sound.map((sample) => -sample);
  t.ok(Math.abs(rmsOf(await mixOf([sound, opposite])) - rmsOf(sound)) < 2);
  const half = await mixOf([
    sound,
    Int16Array.from([...sound.subarray(0, RATE / 2), ...opposite.subarray(RATE / 2)]),
  ]);
  t.ok(rmsOf(half.subarray(RATE / 2 + 200)) > 5000, 'also from the middle on');
});

t.test('a choice stays until it is clearly wrong; silence changes nothing', (t) => {
  const alone = { alone: 1, gain: 1 };
  const channels = level({ 0: 1, 1: 0.8 }, 2);
  t.same(mixChoice({ channels, mix: 0.01 }, alone), alone, 'the other is hardly louder');
  t.same(mixChoice({ channels: level({ 0: 1, 1: 0.1 }, 2), mix: 0.01 }, alone), { alone: 0, gain: 1 });
  const between = { channels: level({ 0: 1, 1: 1 }, 2), mix: 0.15 };
  t.same(mixChoice(between, alone).alone !== undefined, true, 'still cancelled');
  t.same(mixChoice(between, EQUAL_MIX).alone, undefined, 'not yet cancelled');
  t.same(mixChoice({ channels: level({}, 2), mix: 0 }, alone), alone);
  t.end();
});

t.test('no sample is lost, a loud mix saturates, and half a frame at the end is left out', async (t) => {
  t.equal((await mixOf([tone(RATE, 0.7301), tone(RATE, 0.7301)])).length, Math.round(RATE * 0.7301));
  const [first] = await collect(mixDown(chunked(Int16Array.of(100, 100, 100), 3), 2));
  t.equal(first?.length, 1);
  const loud = new Int16Array(RATE).fill(32_767);
  t.equal(peakOf(await mixOf([loud, loud, loud])), 32_767);
});
