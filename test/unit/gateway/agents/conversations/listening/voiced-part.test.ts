/** The voiced part of a stretch, for a recogniser that hears nothing between long silences (gateway/agents/conversations/listening). */
import t from '../../../../../fixtures/tap.js';
import { bytesOf, joinSamples, samplesOf } from '../../../../../../contracts/audio.js';
import { voicedPart } from '../../../../../../gateway/agents/conversations/listening/voiced-part.js';
import { seeded } from '../../../../../fixtures/random.js';

/** Noise of that many milliseconds and that peak. */
const noise = (ms: number, peak: number): Int16Array => {
  const random = seeded(ms + peak);
  return new Int16Array(16 * ms).map(() => Math.round((2 * random() - 1) * peak));
};
const chunksOf = (...parts: readonly Int16Array[]): Uint8Array[] => parts.map(bytesOf);
const msOf = (part: Uint8Array | undefined): number | undefined => part && part.length / 32;

t.test('a tenth of a second of silence is kept on both sides of the voice', async (t) => {
  const voice = noise(400, 8000);
  const parts = [noise(480, 20), voice, noise(300, 20)] as const;
  const part = voicedPart(chunksOf(...parts))!;
  const whole = joinSamples(parts);
  t.same(samplesOf(part), whole.subarray(380 * 16, 980 * 16));
});

t.test('soft sounds at the beginning and the end of a word are kept', async (t) => {
  const part = voicedPart(chunksOf(noise(480, 20), noise(90, 150), noise(300, 8000), noise(300, 20)));
  t.equal(msOf(part), 100 + 300 + 100, 'a consonant 35 dB below the vowel, within the margin');
  const louder = voicedPart(chunksOf(noise(480, 20), noise(90, 400), noise(300, 8000), noise(300, 20)));
  t.equal(msOf(louder), 100 + 90 + 300 + 100, 'one that is as loud as consonants are');
});

t.test('noise around a voice is cut off like silence', async (t) => {
  const part = voicedPart(chunksOf(noise(480, 500), noise(400, 8000), noise(300, 500)));
  t.equal(msOf(part), 600, '24 dB below the voice');
});

t.test('pauses within the voice are kept', async (t) => {
  const part = voicedPart(
    chunksOf(noise(480, 0), noise(200, 8000), noise(500, 0), noise(200, 8000), noise(300, 0)),
  );
  t.equal(msOf(part), 1100);
});

t.test('there is no part where nearly all is voiced, or nothing', async (t) => {
  t.equal(voicedPart(chunksOf(noise(1000, 8000))), undefined);
  t.equal(voicedPart(chunksOf(noise(150, 20), noise(1000, 8000), noise(140, 20))), undefined);
  t.equal(
    voicedPart(chunksOf(noise(480, 5000), noise(400, 8000), noise(300, 5000))),
    undefined,
    'in a crowd',
  );
  t.equal(voicedPart([new Uint8Array(32_000)]), undefined);
  t.equal(voicedPart([]), undefined);
});
