/** The agent's speech in frames (media/playout.ts): order, what counts as heard, pauses and cuts that do not click. */
import t from '../../fixtures/tap.js';
import { bytesOf } from '../../../contracts/audio.js';
import { FRAME_SAMPLES, Playout } from '../../../media/playout.js';

const tone = (samples: number, value = 1000): Int16Array => new Int16Array(samples).fill(value);

t.test('utterances in order, each ended once, with what has left of it', async (t) => {
  const played: [number, number, boolean][] = [];
  const playout = new Playout((...report) => void played.push(report));
  t.equal(playout.next(), undefined, 'nothing is sent while nothing is said');
  playout.play(1, bytesOf(tone(FRAME_SAMPLES * 2 + 100, 1)));
  playout.play(2, bytesOf(tone(FRAME_SAMPLES, 2)));
  playout.finish(1);
  playout.finish(2);
  const frames = Array.from({ length: 12 }, () => playout.next());
  t.same(
    frames.map((frame) => frame?.samples[0]),
    [1, 1, 1, 2, 0, 0, 0, 0, 0, undefined, undefined, undefined],
    'a short tail of silence follows',
  );
  t.equal(frames[2]?.samples[100], 0, 'the last frame is filled up');
  t.same(
    frames.map((frame) => frame?.begins),
    [true, ...Array<boolean>(8).fill(false), undefined, undefined, undefined],
  );
  t.same(played, [
    [1, 20, false],
    [1, 60, true],
    [2, 20, false],
    [2, 20, true],
  ]);
});

t.test('less than a frame waits for more, unless nothing more comes', async (t) => {
  const playout = new Playout(() => undefined);
  playout.play(1, bytesOf(tone(FRAME_SAMPLES - 1)));
  t.equal(playout.next(), undefined);
  playout.play(1, bytesOf(tone(1, 7)));
  t.equal(playout.next()?.samples.at(-1), 7, 'chunks are joined');
});

t.test('pause keeps what waits, clear drops it and says how much was heard', async (t) => {
  const played: [number, number, boolean][] = [];
  const playout = new Playout((...report) => void played.push(report));
  playout.play(1, bytesOf(tone(FRAME_SAMPLES * 20)));
  for (let frame = 0; frame < 7; frame += 1) playout.next();
  t.same(
    played,
    [
      [1, 20, false],
      [1, 100, false],
    ],
    'its first frame is reported at once, then now and then',
  );
  playout.pause();
  for (let frame = 0; frame < 100; frame += 1) playout.next();
  t.equal(playout.next(), undefined);
  playout.resume();
  playout.next();
  playout.play(2, bytesOf(tone(FRAME_SAMPLES)));
  playout.pause();
  playout.clear();
  t.same(played.slice(2), [
    [1, 160, true],
    [2, 0, true],
  ]);
  playout.play(3, bytesOf(tone(FRAME_SAMPLES, 3)));
  t.equal(playout.next()?.samples[0], 3, 'what comes after is heard');
});

/** Speech whose samples tell the number of their frame. */
const counted = (frames: number): Int16Array =>
  Int16Array.from({ length: frames * FRAME_SAMPLES }, (_, at) => 100 * (1 + Math.floor(at / FRAME_SAMPLES)));

t.test('a pause fades speech out, and it resumes at the same frame', async (t) => {
  const played: number[] = [];
  const playout = new Playout((_number, ms) => played.push(ms));
  // In pieces that do not match frames.
  for (let from = 0, all = counted(12); from < all.length; from += 700)
    playout.play(1, bytesOf(all.slice(from, from + 700)));
  for (let frame = 0; frame < 4; frame += 1) playout.next();
  playout.pause();
  const fading = playout.next()?.samples ?? new Int16Array(0);
  t.same([fading[0], fading[FRAME_SAMPLES / 2]], [500, 250], 'softer and softer: all, half');
  t.ok((fading.at(-1) ?? 500) < 5, 'within a frame');
  t.same([playout.next()?.samples[0], playout.next()?.samples[0]], [0, 0], 'then silence');
  playout.resume();
  const [fifth, sixth, seventh] = [playout.next(), playout.next(), playout.next()];
  t.same([fifth?.samples[0], sixth?.samples[0]], [0, 300], 'it comes back softly');
  t.ok((fifth?.samples.at(-1) ?? 0) > 245, 'and as the same frame');
  t.equal(seventh?.samples[0], 700, 'and nothing is left out');
  t.same(played, [20, 100], 'what was faded out does not count as heard');
});

/** The greatest change of slope between samples, which is heard as a click. */
const corner = (samples: readonly number[]): number =>
  Math.max(...samples.slice(2).map((each, at) => Math.abs(each - 2 * samples[at + 1]! + samples[at]!)));

t.test('neither a pause nor the resumed speech clicks', async (t) => {
  const playout = new Playout(() => undefined);
  const wave = Int16Array.from({ length: 12 * FRAME_SAMPLES }, (_, at) => 8000 * Math.sin(at / 19));
  playout.play(1, bytesOf(wave));
  const heard: number[] = [];
  const hear = (frames: number): void => {
    for (let frame = 0; frame < frames; frame += 1) heard.push(...(playout.next()?.samples ?? []));
  };
  hear(3);
  playout.pause();
  hear(4);
  playout.resume();
  hear(5);
  t.ok(
    corner(heard) < 1.2 * corner([...wave]),
    `${corner(heard)} beside ${corner([...wave])} of the sound itself`,
  );
  t.equal(heard.slice(4 * FRAME_SAMPLES, 7 * FRAME_SAMPLES).some(Boolean), false, 'it is silent in between');
});

t.test('speech that is cleared without a pause ends in the next frame, without a click', async (t) => {
  const wave = Int16Array.from({ length: 12 * FRAME_SAMPLES }, (_, at) => 8000 * Math.cos(at / 19));
  /** The samples heard until the playout is cleared, and in four frames after that. */
  const heardWith = (pauses: boolean): number[] => {
    const playout = new Playout(() => undefined);
    playout.play(1, bytesOf(wave));
    const heard: number[] = [];
    const hear = (frames: number): void => {
      for (let frame = 0; frame < frames; frame += 1) heard.push(...(playout.next()?.samples ?? []));
    };
    hear(3);
    if (pauses) playout.pause();
    if (pauses) hear(3);
    playout.resume();
    if (pauses) hear(1);
    playout.clear();
    hear(4);
    return heard;
  };
  for (const pauses of [false, true]) {
    const heard = heardWith(pauses);
    const what = pauses ? 'as it comes back from a pause' : 'in mid-speech';
    t.ok(corner(heard) < 2 * corner([...wave]), `${what}: ${corner(heard)} beside ${corner([...wave])}`);
    t.equal(heard.length, (pauses ? 11 : 7) * FRAME_SAMPLES, 'frames are as long as ever');
    t.equal(heard.slice(-3 * FRAME_SAMPLES).some(Boolean), false, `${what}: the frame behind it is silent`);
  }
});

t.test('the soft end of what is cleared does not count as heard, and delays by a frame', async (t) => {
  const played: [number, number, boolean][] = [];
  const playout = new Playout((...report) => void played.push(report));
  playout.play(1, bytesOf(counted(9)));
  for (let frame = 0; frame < 3; frame += 1) playout.next();
  playout.clear();
  t.same(played.slice(1), [[1, 60, true]], 'it is told at once');
  playout.play(2, bytesOf(counted(1)));
  t.same([playout.next()?.samples[0], playout.next()?.samples[0]], [400, 100]);
});

t.test('less than a frame of cleared speech ends as softly', async (t) => {
  const playout = new Playout(() => undefined);
  playout.play(1, bytesOf(tone(FRAME_SAMPLES + 10, 1000)));
  playout.next();
  playout.clear();
  const end = playout.next()?.samples ?? new Int16Array(0);
  t.equal(end.length, FRAME_SAMPLES);
  t.equal(end[0], 1000);
  t.equal(end[10], 0, 'nothing is made up');
});

t.test('a pause before speech begins lets nothing out', async (t) => {
  const playout = new Playout(() => undefined);
  playout.pause();
  playout.play(1, bytesOf(counted(3)));
  t.equal(playout.next(), undefined);
  playout.resume();
  t.equal(playout.next()?.samples[0], 100, 'and its beginning is as loud as it is');
  playout.pause();
  playout.clear();
  t.equal(playout.next()?.samples[0], 0, 'what is cleared is not faded');
});

t.test('an utterance without sound ends at once', async (t) => {
  const played: unknown[] = [];
  const playout = new Playout((...report) => void played.push(report));
  playout.finish(9);
  playout.next();
  t.same(played, [[9, 0, true]]);
});
