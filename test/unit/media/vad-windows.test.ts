/** Voice activity where nothing comes at all: a microphone that is off, or a call in which nobody speaks. */
import { DETECTOR_FRAME } from '../../../media/detector-frame.js';
import { VadWindows } from '../../../media/vad-windows.js';
import type { Report } from '../../../media/wire.js';
import t from '../../fixtures/tap.js';

const FRAMES_A_SECOND = 16_000 / DETECTOR_FRAME;
const NOTHING = new Int16Array(DETECTOR_FRAME);
const LOUD = new Int16Array(DETECTOR_FRAME).fill(9000);

function watched(voiced: (frame: Int16Array) => boolean) {
  const pushed: Int16Array[] = [];
  const reports: Report[] = [];
  const push = (frame: Int16Array): boolean => {
    pushed.push(frame);
    return voiced(frame);
  };
  const windows = new VadWindows(
    { push },
    (report) => reports.push(report),
    () => true,
  );
  return { windows, pushed, speech: () => reports.filter(({ on }) => on === 'speech') };
}

/** The noise of a microphone, at that peak. */
const noise = (peak: number): Int16Array =>
  Int16Array.from({ length: DETECTOR_FRAME }, (_, at) => (at % 2 === 0 ? peak : -peak));

t.test('a detector is asked about whatever may hold a word: more than -60 dB', (t) => {
  for (const { peak, seconds } of [
    { peak: 33, seconds: 1 },
    { peak: 34, seconds: 10 },
  ]) {
    const { windows, pushed } = watched(() => false);
    for (let frame = 0; frame < 10 * FRAMES_A_SECOND; frame += 1) windows.push(noise(peak));
    t.ok(Math.abs(pushed.length / FRAMES_A_SECOND - seconds) <= 0.1, `${pushed.length} frames at ${peak}`);
  }
  t.end();
});

t.test('a detector is not asked about nothing for long, and at once about a sound', (t) => {
  const { windows, pushed, speech } = watched((frame) => frame[0] !== 0);
  for (let frame = 0; frame < 10 * FRAMES_A_SECOND; frame += 1) windows.push(NOTHING);
  t.ok(pushed.length <= 1.1 * FRAMES_A_SECOND, `${pushed.length} frames of ten seconds`);
  const before = pushed.length;
  windows.push(LOUD);
  t.equal(pushed.length, before + 1);
  t.equal(speech().length, 1, 'and the voice is told');
  for (let frame = 0; frame < FRAMES_A_SECOND; frame += 1) windows.push(NOTHING);
  t.equal(speech().length, 2, 'as well as its end');
  t.end();
});

t.test('a voice that its detector believes in is heard to its end', (t) => {
  let patience = 100;
  const { windows, speech } = watched((frame) => frame[0] !== 0 || (patience -= 1) > 0);
  windows.push(LOUD);
  for (let frame = 0; frame < 5 * FRAMES_A_SECOND; frame += 1) windows.push(NOTHING);
  t.equal(speech().length, 2);
  t.ok(patience <= 0);
  t.end();
});
