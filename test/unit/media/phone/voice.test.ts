/** The agent’s voice on a telephone line: frames, pieces, and keys between what is said. */
import t from '../../../fixtures/tap.js';
import { bytesOf } from '../../../../contracts/audio.js';
import { codecFor } from '../../../../media/phone/codecs.js';
import { Marks } from '../../../../media/phone/marks.js';
import { PhoneVoice } from '../../../../media/phone/voice.js';
import { FRAME_SAMPLES, Playout } from '../../../../media/playout.js';
import type { PlayedReport } from '../../../../media/wire.js';
import { frequencyOf, peakOf } from '../../../fixtures/codecs/audio.js';
import { keysIn } from '../../../fixtures/media/dtmf.js';

const MULAW = { codec: 'mulaw', rate: 8000 } as const;
const WIDE = { codec: 'linear', rate: 16_000 } as const;

const sine = (hertz: number, rate: number, samples: number, amplitude = 8000): Int16Array =>
  Int16Array.from({ length: samples }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * at) / rate)),
  );

t.test('the agent’s voice leaves in frames of 20 ms, at the line’s rate', (t) => {
  for (const [format, bytes] of [
    [MULAW, 160],
    [WIDE, 640],
  ] as const) {
    const sent: Uint8Array[] = [];
    const said: Int16Array[] = [];
    const playout = new Playout(() => undefined);
    const voice = new PhoneVoice(
      format,
      playout,
      (audio) => sent.push(audio),
      (samples) => said.push(samples),
    );
    t.equal(voice.beat(), false, 'nothing is sent while nothing is said');
    playout.play(1, bytesOf(sine(1000, 24_000, 50 * FRAME_SAMPLES)));
    playout.finish(1);
    t.equal(voice.beat(), true);
    t.equal(said.length, 3, 'a little of it goes ahead');
    while (voice.beat());
    t.ok(sent.every(({ length }) => length === bytes));
    t.ok(sent.length >= 50 && sent.length <= 55, `${sent.length} frames`);
    const heard = Int16Array.from(sent.slice(5, 45).flatMap((audio) => [...codecFor(format).decode(audio)]));
    t.ok(Math.abs(frequencyOf(heard, format.rate) - 1000) < 10, 'and sounds as it did');
    t.ok(Math.abs(peakOf(heard) - 8000) < 400);
  }
  t.end();
});

t.test('a provider that wants larger pieces gets them whole, and each utterance to its end', (t) => {
  const sent: Uint8Array[] = [];
  const playout = new Playout(() => undefined);
  const said: Int16Array[] = [];
  const voice = new PhoneVoice(
    { ...MULAW, frames: 10 },
    playout,
    (audio) => sent.push(audio),
    (samples) => said.push(samples),
  );
  playout.play(1, bytesOf(sine(1000, 24_000, 25 * FRAME_SAMPLES)));
  playout.finish(1);
  voice.beat();
  t.same([sent.length, said.length, voice.hasLeft], [1, 12, false], 'a piece leaves at once');
  while (voice.beat());
  t.ok(voice.hasLeft);
  t.ok(sent.length === 3 && sent.every(({ length }) => length === 1600), 'the last has silence behind it');
  playout.play(2, bytesOf(sine(1000, 24_000, 15 * FRAME_SAMPLES)));
  voice.beat();
  voice.drop();
  t.ok(voice.hasLeft, 'what had not left is dropped');
  t.end();
});

t.test('a provider that gives no marks back has played what it was sent a little later', (t) => {
  const reports: PlayedReport[] = [];
  let asked = 0;
  const marks = new Marks(
    () => (asked += 1),
    (report) => reports.push(report),
    12,
  );
  marks.left({ on: 'played', utterance: 1, ms: 200, ended: true } as PlayedReport);
  marks.beat(false);
  t.equal(asked, 0, 'not before it has left');
  for (let beat = 0; beat < 12; beat += 1) marks.beat();
  t.same([asked, reports.length], [1, 0]);
  marks.beat();
  t.equal(reports.length, 1);
  t.end();
});

t.test('keys are tones between what is said, and speech waits for them', (t) => {
  for (const format of [MULAW, WIDE]) {
    const sent: Int16Array[] = [];
    const playout = new Playout(() => undefined);
    let pressed = 0;
    const voice = new PhoneVoice(
      format,
      playout,
      (audio) => sent.push(codecFor(format).decode(audio)),
      () => undefined,
      () => (pressed += 1),
    );
    playout.play(1, bytesOf(sine(1000, 24_000, 10 * FRAME_SAMPLES)));
    playout.finish(1);
    voice.beat();
    voice.press('0123456789*#w11');
    playout.play(2, bytesOf(sine(1000, 24_000, 10 * FRAME_SAMPLES)));
    playout.finish(2);
    for (let beats = 0; beats < 400; beats += 1) voice.beat();
    t.equal(pressed, 1);
    t.equal(keysIn(sent, format.rate), '0123456789*#11');
    const loudest = Math.max(...sent.map((frame) => peakOf(frame)));
    t.ok(loudest < 16_384, `${loudest}: never above half of the loudest`);
  }
  t.end();
});
