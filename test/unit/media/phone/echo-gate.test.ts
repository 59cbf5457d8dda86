/**
 * The agent's own voice on a phone line that echoes it: it is never taken for the caller's, and the caller is heard. Over
 * the media path of a call: playout, the line's codec and pace in both directions, the microphone.
 */
import t from '../../../fixtures/tap.js';
import { bytesOf, samplesOf } from '../../../../contracts/audio.js';
import type { LineFormat } from '../../../../contracts/ports/calls/calls.js';
import { codecFor } from '../../../../media/phone/codecs.js';
import { PhoneCarrier } from '../../../../media/phone/serve-phone.js';
import { FRAME_SAMPLES, Playout } from '../../../../media/playout.js';
import type { CallHost } from '../../../../media/served-call.js';
import { loudnessDetector } from '../../../../media/loudness.js';
import { VadWindows } from '../../../../media/vad-windows.js';
import type { LineReport, Report } from '../../../../media/wire.js';
import { shortOrLong } from '../../../fixtures/long.js';
import { seeded } from '../../../fixtures/random.js';
import { standIn } from '../../../fixtures/stand-in.js';

const FORMATS: readonly LineFormat[] = [
  { codec: 'mulaw', rate: 8000 },
  { codec: 'alaw', rate: 8000 },
  { codec: 'linear', rate: 16_000 },
  { codec: 'linear', rate: 8000, frames: 10 },
];

/** Noise in syllables, five a second with gaps between; `db`: level at their loudest. */
function voice(db: number, rate: number, seconds: number, seed: number) {
  const random = seeded(seed);
  const amplitude = 32_768 * 10 ** (db / 20) * Math.sqrt(3);
  return Int16Array.from({ length: rate * seconds }, (_, at) => {
    const syllable = Math.max(0, Math.sin((2 * Math.PI * 2.5 * at) / rate));
    return Math.round(Math.max(-32_768, Math.min(32_767, (random() * 2 - 1) * amplitude * syllable)));
  });
}

const gain = (db: number): number => 10 ** (db / 20);
const isLoud = (samples: Int16Array): boolean => samples.some((sample) => Math.abs(sample) > 100);

/** A call whose line returns the agent's voice, changed by `db` and `ms` later. */
function call(format: LineFormat, echo: { readonly db: number; readonly ms: number }) {
  const heard: boolean[] = [];
  const reports: Report[] = [];
  const windows = new VadWindows(
    loudnessDetector(),
    (report) => reports.push(report),
    () => !playout.isBusy,
  );
  /** Like `heard`, but without the gate. */
  const came: boolean[] = [];
  const playout = new Playout(() => undefined);
  const { encode, decode, bytesPerSample } = codecFor(format);
  const frame = (format.rate * 20) / 1000;
  /** Frames that the line has played, behind silent ones for the delay. */
  const line: Int16Array[] = Array.from({ length: echo.ms / 20 }, () => new Int16Array(frame));
  let played = 0;
  const parts = {
    playout,
    samples(sound: Int16Array, watched = sound) {
      heard.push(isLoud(watched));
      windows.push(sound, watched);
    },
    isVoiced: () => windows.isVoiced,
    recorder: () => undefined,
    report(report: LineReport) {
      if (report.on !== 'speak') return;
      for (let from = 0; from < report.audio.length; from += frame * bytesPerSample)
        line.push(decode(report.audio.slice(from, from + frame * bytesPerSample)));
    },
  };
  const carrier = new PhoneCarrier(
    standIn({ format }),
    { complexity: 0 },
    standIn<CallHost<LineReport>>(parts),
  );
  const beat = (caller: Int16Array): void => {
    carrier.beat(true, 1);
    const back = line[played];
    if (back) played += 1;
    const mixed = caller.map((sample, at) => sample + Math.round((back?.[at] ?? 0) * gain(echo.db)));
    const audio = encode(mixed);
    came.push(isLoud(decode(audio)));
    carrier.take({ op: 'hear', audio });
  };
  let utterance = 0;
  return {
    came,
    reports,
    /** The agent speaks, at a level of `db`. */
    says(db: number, seconds: number): void {
      utterance += 1;
      playout.play(utterance, bytesOf(voice(db, FRAME_SAMPLES * 50, seconds, utterance)));
      playout.finish(utterance);
    },
    /** Plays `seconds` with the caller's sound; returns for each frame whether any of it was heard. */
    hears(seconds: number, caller: Int16Array = new Int16Array(format.rate * seconds)) {
      const from = heard.length;
      for (let at = 0; at < caller.length; at += frame) beat(caller.subarray(at, at + frame));
      return heard.slice(from);
    },
  };
}

/** Number of voices that begin, milliseconds of sound for the recogniser, and the longest silent hole in it. */
function recognised(reports: readonly Report[]) {
  let [voices, samples, gap, before] = [0, 0, 0, 0];
  for (const report of reports) {
    if (report.on === 'speech' && report.active) voices += 1;
    if (report.on !== 'audio') continue;
    for (const sample of samplesOf(report.pcm)) {
      before = Math.abs(sample) > 10 ? 0 : before + 1;
      gap = Math.max(gap, before);
      samples += 1;
    }
  }
  return { voices, ms: samples / 16, longestHole: gap / 16 };
}

const count = (frames: readonly boolean[]): number => frames.filter(Boolean).length;

/** What a line returns of the agent's voice: at its loudest, the soonest and the latest. */
const LOUDEST = [60, 400].map((ms) => ({ db: -15, ms }));
const SOFTER = [
  { db: -25, ms: 200 },
  { db: -35, ms: 400 },
];

t.test('nothing of the agent’s voice is heard that a line returns', (t) => {
  for (const format of FORMATS)
    for (const { db, ms } of [...LOUDEST, ...shortOrLong([], SOFTER)]) {
      const line = call(format, { db, ms });
      line.says(-8, 2);
      const name = `${format.codec} ${format.rate}: ${db} dB, ${ms} ms`;
      t.equal(count(line.hears(3)), 0, name);
      t.ok(count(line.came) >= 40, `${name}: the line has returned it in ${count(line.came)} frames`);
    }
  t.end();
});

t.test('a caller is heard over the agent, whatever comes back', (t) => {
  for (const format of FORMATS) {
    const alone = call(format, { db: -90, ms: 200 });
    const silent = count(alone.hears(2, voice(-20, format.rate, 2, 9)));
    // The loudest echo and the softest caller are the hardest.
    for (const db of shortOrLong([-15], [-15, -25, -35]))
      for (const caller of shortOrLong([-26], [-14, -26])) {
        const line = call(format, { db, ms: 200 });
        line.says(-20, 5);
        line.hears(2);
        const heard = count(line.hears(2, voice(caller, format.rate, 2, 9)));
        t.ok(
          heard >= 0.85 * silent,
          `${format.codec}, echo ${db}, caller ${caller} dB: ${heard} of ${silent}`,
        );
      }
  }
  t.end();
});

t.test('a soft caller is heard over the agent on a line that returns little', (t) => {
  const line = call(FORMATS[0]!, { db: -45, ms: 200 });
  line.says(-18, 8);
  t.equal(count(line.hears(4)), 0);
  const heard = count(line.hears(2, voice(-36, 8000, 2, 9)));
  t.ok(heard >= 45, `${heard} of 50 frames`);
  t.end();
});

t.test('the caller is heard unchanged while the agent is silent', (t) => {
  const line = call(FORMATS[0]!, { db: -15, ms: 200 });
  line.says(-20, 1);
  line.hears(2);
  const heard = count(line.hears(2, voice(-40, 8000, 2, 9)));
  t.ok(heard >= 48, `${heard} of 50 frames`);
  t.end();
});

t.test(
  'the words of a soft caller over the echo are recognised whole, though voice is heard in parts of them',
  (t) => {
    for (const format of FORMATS) {
      const line = call(format, { db: -22, ms: 200 });
      line.says(-14, 8);
      line.hears(3);
      t.same(line.reports, [], 'nothing of the echo');
      // Now and then louder than any echo.
      const caller = voice(-26, format.rate, 2, 9);
      const heard = line.hears(2, caller);
      line.hears(2);
      const { voices, ms, longestHole } = recognised(line.reports);
      const name = `${format.codec} ${format.rate}: ${count(heard)} of ${heard.length} frames, ${voices} voices, ${ms} ms`;
      t.ok(voices >= 1 && ms >= 1900, name);
      // The caller is silent for 200 ms between syllables.
      t.ok(longestHole < 220, `${name}: the longest hole lasts ${longestHole} ms`);
    }
    t.end();
  },
);

t.test('sound that a line returns is no voice, and nothing of it is recognised', (t) => {
  for (const format of FORMATS) {
    const line = call(format, { db: -15, ms: 200 });
    line.says(-8, 4);
    line.hears(6);
    t.same(line.reports, [], `${format.codec} ${format.rate}`);
  }
  t.end();
});
