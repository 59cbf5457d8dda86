/** Judging audio: its length, its first sound, silence, stalls, and bytes of another format. */
import t from 'tap';
import { judgeSpeech, leastSecondsOf } from '../src/audio/answer.js';
import { underrunsOf } from '../src/audio/player.js';
import { shapeOf } from '../src/audio/shape.js';
import { averageSpectrum, bandwidth, offSpeech, SPEECH } from '../src/audio/spectrum.js';
import { mp3, RATE, silence, tone, wav } from './fixtures/audio.js';

const expected = { format: 'pcm', rate: RATE, leastSeconds: 0.5 } as const;
const near = (value: number, wanted: number): boolean => Math.abs(value - wanted) < 1e-6;
const shape = (body: Buffer) => shapeOf(body, 'pcm', RATE);

t.test('PCM has its length, and its first sound where silence ends', async (t) => {
  const found = shape(Buffer.concat([silence(0.5), tone(0.5)]));
  t.ok(near(found.duration, 1));
  t.ok(near(found.audible, 0.5));
  t.equal(found.audibleFrom, (0.5 + 0.02) * RATE * 2);
  t.ok(near(found.secondsIn(RATE), 0.5));
  t.equal(shape(silence(1)).audibleFrom, undefined);
});

t.test('WAV is read by its own header', async (t) => {
  const found = shapeOf(wav(tone(1), RATE), 'wav', 8000);
  t.ok(near(found.duration, 1));
  t.equal(found.secondsIn(44), 0);
  t.throws(() => shapeOf(tone(1), 'wav', RATE), /no WAV/);
});

t.test('MP3 is read frame by frame, and silence in it is known', async (t) => {
  const loud = shapeOf(mp3(10, true), 'mp3', 0);
  t.ok(near(loud.duration, (10 * 1152) / 44_100));
  t.equal(loud.audible, 1);
  t.equal(shapeOf(mp3(10, false), 'mp3', 0).audibleFrom, undefined);
  t.equal(
    shapeOf(Buffer.concat([mp3(2, true), mp3(1, true).subarray(0, 100)]), 'mp3', 0).secondsIn(10_000),
    2304 / 44_100,
  );
  t.throws(() => shapeOf(Buffer.from('not at all an mp3'), 'mp3', 0), /no MP3/);
});

t.test('bytes of another format are no PCM', async (t) => {
  for (const body of [wav(tone(1), RATE), Buffer.from('{"error": 1}'), Buffer.from('<html>')])
    t.throws(() => shape(body), /^no raw PCM$/);
  t.throws(() => shape(Buffer.alloc(3)), /^half a sample$/);
});

t.test('a player that starts at the first byte runs dry when the next ones are late', async (t) => {
  const second = RATE * 2;
  const { count, total, longest } = underrunsOf(
    [
      [100, second],
      [1000, 2 * second],
      [2400, 3 * second],
      [3300, 4 * second],
    ],
    shape(tone(4)),
  );
  t.same([count, Math.round(total), Math.round(longest)], [1, 300, 300]);
});

t.test('speech is judged by when it was heard', async (t) => {
  const body = Buffer.concat([silence(0.5), tone(1)]);
  const timeline = [
    [10, RATE],
    [300, body.length],
  ] as const;
  const judged = judgeSpeech(timeline, shape(body), 310, expected);
  t.hasStrict(judged, { firstByte: 10, firstAudio: 300, end: 310, underrun: 0 });
  t.ok('duration' in judged && judged.duration > 1);
});

t.test('silence, too little audio and a stall are failures', async (t) => {
  const failure = (body: Buffer, timeline: readonly (readonly [number, number])[], end = 10) =>
    judgeSpeech(timeline, shape(body), end, expected);
  t.hasStrict(failure(silence(1), [[5, RATE * 2]]), { failure: 'silence' });
  t.hasStrict(failure(Buffer.alloc(0), []), { failure: 'silence' });
  t.hasStrict(failure(tone(0.3), [[5, RATE]]), { failure: 'too little audio' });
  t.hasStrict(
    failure(Buffer.concat([tone(0.05), silence(2)]), [[5, 4.1 * RATE]]),
    { failure: 'silence' },
    'a blip',
  );
  const early = [
    [5, 2],
    [3000, RATE * 2],
  ] as const;
  t.hasStrict(failure(tone(1), early, 3000), { failure: 'stalled' });
  t.hasStrict(failure(tone(1), [[5, RATE * 2]], 9000), { failure: 'stalled' }, 'at the end');
});

t.test('how much audio a text needs at least', async (t) => {
  t.equal(leastSecondsOf('x'.repeat(80)), 2);
});

t.test(
  'a spectrum is told by its bandwidth and by how far it is off that of speech, pauses left out',
  async (t) => {
    const rate = 16_000;
    const sum = (parts: readonly (readonly [hertz: number, decibels: number])[]): Int16Array =>
      Int16Array.from({ length: rate }, (_, at) =>
        parts
          .map(([hertz, decibels]) => 10 ** (decibels / 20) * Math.sin((2 * Math.PI * hertz * at) / rate))
          .reduce((one, other) => one + other),
      );
    const like = sum(SPEECH);
    const spectrum = averageSpectrum(like);
    t.ok(offSpeech(spectrum, rate) < 0.5, `${offSpeech(spectrum, rate)} dB`);
    const muffled = averageSpectrum(
      sum(SPEECH.map(([hertz, level]) => [hertz, hertz > 2000 ? level - 20 : level])),
    );
    t.ok(offSpeech(muffled, rate) > 5);
    t.ok(Math.abs(bandwidth(averageSpectrum(sum([[1000, 60]])), rate) - 1000) < 2 * (rate / 1024));
    const paused = new Int16Array(3 * rate);
    paused.set(like);
    t.strictSame(bandwidth(averageSpectrum(paused), rate), bandwidth(spectrum, rate));
    t.equal(averageSpectrum(new Int16Array(rate)).length, 512, 'silence has a spectrum, too');
  },
);
