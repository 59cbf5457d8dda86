/** The sound of a call without its network: playout, microphone, voice activity, the beat that paces them, RTP. */
import t from 'tap';
import { bytesOf, samplesOf } from '../../contracts/audio.js';
import { DETECTOR_FRAME } from '../../media/detector-frame.js';
import { VadWindows, type VoiceDetector } from '../../media/vad-windows.js';
import { Microphone } from '../../media/embedded/microphone.js';
import { ahead, readRtp, RtpWriter } from '../../media/embedded/rtp.js';
import { loudnessDetector } from '../../media/loudness.js';
import { Pacer } from '../../media/pacer.js';
import { FRAME_SAMPLES, Playout } from '../../media/playout.js';
import type { Report } from '../../media/wire.js';
import { until } from '../fixtures/until.js';

const tone = (samples: number, value = 1000): Int16Array => new Int16Array(samples).fill(value);

t.test('playout: utterances in order, each ended once, with what has left of it', async (t) => {
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
    [1, 60, true],
    [2, 20, true],
  ]);
});

t.test('playout: less than a frame waits for more, unless nothing more comes', async (t) => {
  const playout = new Playout(() => undefined);
  playout.play(1, bytesOf(tone(FRAME_SAMPLES - 1)));
  t.equal(playout.next(), undefined);
  playout.play(1, bytesOf(tone(1, 7)));
  t.equal(playout.next()?.samples.at(-1), 7, 'chunks are joined');
});

t.test('playout: pause keeps what waits, clear drops it and says how much was heard', async (t) => {
  const played: [number, number, boolean][] = [];
  const playout = new Playout((...report) => void played.push(report));
  playout.play(1, bytesOf(tone(FRAME_SAMPLES * 20)));
  for (let frame = 0; frame < 7; frame += 1) playout.next();
  t.same(played, [[1, 100, false]], 'reported now and then');
  playout.pause();
  for (let frame = 0; frame < 100; frame += 1) playout.next();
  t.equal(playout.next(), undefined);
  playout.resume();
  playout.next();
  playout.play(2, bytesOf(tone(FRAME_SAMPLES)));
  playout.pause();
  playout.clear();
  t.same(played.slice(1), [
    [1, 160, true],
    [2, 0, true],
  ]);
  playout.play(3, bytesOf(tone(FRAME_SAMPLES, 3)));
  t.equal(playout.next()?.samples[0], 3, 'what comes after is heard');
});

/** Speech whose samples say which frame they are of. */
const counted = (frames: number): Int16Array =>
  Int16Array.from({ length: frames * FRAME_SAMPLES }, (_, at) => 100 * (1 + Math.floor(at / FRAME_SAMPLES)));

t.test('playout: a pause fades speech out, and it goes on at the same frame', async (t) => {
  const played: number[] = [];
  const playout = new Playout((_number, ms) => played.push(ms));
  // In pieces that fit no frame.
  for (let from = 0, all = counted(12); from < all.length; from += 700)
    playout.play(1, bytesOf(all.slice(from, from + 700)));
  for (let frame = 0; frame < 4; frame += 1) playout.next();
  playout.pause();
  const fading = Array.from({ length: 2 }, () => playout.next()?.samples[0] ?? 0);
  t.same(fading, [500, 300], 'softer and softer: all, half');
  t.same([playout.next()?.samples[0], playout.next()?.samples[0]], [0, 0], 'then silence');
  playout.resume();
  const [fifth, sixth, seventh] = [playout.next(), playout.next(), playout.next()];
  t.same([fifth?.samples[0], sixth?.samples[0]], [0, 300], 'it comes back softly');
  t.ok((fifth?.samples.at(-1) ?? 0) > 245, 'and as the same frame');
  t.equal(seventh?.samples[0], 700, 'and nothing is left out');
  t.same(played, [100], 'what was faded out does not count as heard');
});

/** The sharpest corner in it, which is what is heard as a click. */
const corner = (samples: readonly number[]): number =>
  Math.max(...samples.slice(2).map((each, at) => Math.abs(each - 2 * samples[at + 1]! + samples[at]!)));

t.test('playout: neither a pause nor what goes on behind it clicks', async (t) => {
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
  t.equal(heard.slice(5 * FRAME_SAMPLES, 7 * FRAME_SAMPLES).some(Boolean), false, 'it is silent in between');
});

t.test('playout: what is cleared without a pause ends in the next frame, without a click', async (t) => {
  const wave = Int16Array.from({ length: 12 * FRAME_SAMPLES }, (_, at) => 8000 * Math.cos(at / 19));
  /** What is heard until it is cleared, and of four frames behind that. */
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

t.test(
  'playout: the soft end of what is cleared does not count as heard, and delays by a frame',
  async (t) => {
    const played: [number, number, boolean][] = [];
    const playout = new Playout((...report) => void played.push(report));
    playout.play(1, bytesOf(counted(9)));
    for (let frame = 0; frame < 3; frame += 1) playout.next();
    playout.clear();
    t.same(played, [[1, 60, true]], 'it is told at once');
    playout.play(2, bytesOf(counted(1)));
    t.same([playout.next()?.samples[0], playout.next()?.samples[0]], [400, 100]);
  },
);

t.test('playout: of less than a frame that is cleared the end is as soft', async (t) => {
  const playout = new Playout(() => undefined);
  playout.play(1, bytesOf(tone(FRAME_SAMPLES + 10, 1000)));
  playout.next();
  playout.clear();
  const end = playout.next()?.samples ?? new Int16Array(0);
  t.equal(end.length, FRAME_SAMPLES);
  t.equal(end[0], 1000);
  t.equal(end[10], 0, 'nothing is made up');
});

t.test('playout: a pause before speech begins lets nothing out', async (t) => {
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

t.test('playout: an utterance without sound is over at once', async (t) => {
  const played: unknown[] = [];
  const playout = new Playout((...report) => void played.push(report));
  playout.finish(9);
  playout.next();
  t.same(played, [[9, 0, true]]);
});

/** A microphone whose packets carry their own value as 20 ms of sound; an empty one cannot be decoded. */
function microphone() {
  const heard: number[] = [];
  const decoder = {
    decode(payload: Uint8Array): Uint8Array {
      if (payload[0] === undefined) throw new Error('broken');
      return bytesOf(tone(320, payload[0] * 100));
    },
  };
  const mic = new Microphone(decoder, (samples) => heard.push(samples[0] ?? Number.NaN));
  const receive = (sequence: number, value = sequence % 100, ssrc = 1): void =>
    mic.receive({
      ssrc,
      sequence: sequence & 0xffff,
      timestamp: sequence * 960,
      payload: Uint8Array.of(value),
    });
  return { mic, heard, receive };
}

t.test('microphone: order is restored, doubles are left out', async (t) => {
  const { heard, receive } = microphone();
  for (const sequence of [1, 3, 2, 2, 4, 1]) receive(sequence);
  t.same(heard, [100, 200, 300, 400]);
});

t.test('microphone: numbers go round', async (t) => {
  const { heard, receive } = microphone();
  receive(65_535, 1);
  receive(65_536, 2);
  receive(65_537, 3);
  t.same(heard, [100, 200, 300]);
});

t.test('microphone: a lost frame is a faded repeat, a long loss ends in silence', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1, 8);
  for (const sequence of [3, 4, 5, 6]) receive(sequence, 1);
  t.same(heard, [800, 400, 100, 100, 100, 100]);
  t.same(mic.counts, { received: 5, lost: 1 });
  receive(60, 2);
  for (const sequence of [61, 62, 63]) receive(sequence, 2);
  t.same(heard.slice(6, 12), [50, 25, 12, 6, 3, 200], 'at most five are made up');
});

t.test('microphone: nothing for a while is silence, so that a muted one ends the turn', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1);
  for (let beat = 0; beat < 7; beat += 1) mic.beat();
  t.same(heard, [100], 'after a little patience');
  mic.beat();
  mic.beat();
  t.same(heard.slice(1), Array<number>(9).fill(0), 'and then no time is missing');
  receive(2);
  t.equal(heard.at(-1), 200, 'and it goes on');
});

t.test('microphone: what waits for a lost packet is heard when nothing more comes', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1, 4);
  receive(3, 1);
  for (let beat = 0; beat < 8; beat += 1) mic.beat();
  t.same(heard, [400, 200, 100]);
});

t.test('microphone: a stream that begins anew, and packets that are broken', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1);
  receive(20_000, 5);
  t.same(heard, [100, 500]);
  mic.receive({ ssrc: 1, sequence: 20_001, timestamp: 0, payload: new Uint8Array() });
  t.equal(heard.at(-1), 0);
});

t.test('microphone: of two streams one is heard, and the other once it has gone quiet', async (t) => {
  const { mic, heard, receive } = microphone();
  for (let sequence = 1; sequence < 4; sequence += 1) {
    receive(sequence, 1);
    receive(sequence + 500, 9, 2);
    mic.beat();
  }
  t.same(heard, [100, 100, 100]);
  for (let beat = 0; beat < 8; beat += 1) mic.beat();
  receive(504, 9, 2);
  t.equal(heard.at(-1), 900);
});

t.test('microphone: nobody is heard faster than time goes', async (t) => {
  const { mic, heard, receive } = microphone();
  for (let sequence = 0; sequence < 1000; sequence += 1) receive(sequence, 1);
  const early = heard.length;
  t.ok(early >= 150 && early < 160, `${early} frames`);
  for (let beat = 0; beat < 10; beat += 1) {
    mic.beat();
    for (let more = 0; more < 10; more += 1) receive(1000 + beat * 10 + more, 1);
  }
  t.ok(heard.length <= early + 20, 'and then in step with it');
});

t.test('microphone: time that the machine let go counts, so that nobody goes unheard after it', async (t) => {
  const { mic, heard, receive } = microphone();
  let sequence = 0;
  for (let stall = 0; stall < 10; stall += 1) {
    mic.beat(50);
    for (let frame = 0; frame < 50; frame += 1) receive(sequence++, 1);
  }
  t.equal(heard.length, 500, 'every frame of ten stalls of a second');
});

const LISTENS = (): boolean => true;

/** Voice activity as the test says, frame by frame. */
function scripted(active: readonly boolean[]) {
  let released = 0;
  let at = 0;
  const detector: VoiceDetector = {
    push: () => active[at++] ?? false,
    release: () => void (released += 1),
  };
  return { detector, released: () => released };
}

t.test('ears: voice is reported with the breath before it, in windows, until it ends', async (t) => {
  const reports: Report[] = [];
  const pattern = [...Array<boolean>(30).fill(false), ...Array<boolean>(20).fill(true), false, false];
  const vad = new VadWindows(scripted(pattern).detector, (report) => reports.push(report), LISTENS);
  // In pieces that fit no frame.
  for (let sent = 0; sent < pattern.length * DETECTOR_FRAME; sent += 320) vad.push(tone(320, 1));
  const speech = reports.filter(({ on }) => on === 'speech');
  t.match(speech, [
    { active: true, at: 31 * 32 },
    { active: false, at: 51 * 32 },
  ]);
  const windows = reports.flatMap((report) => (report.on === 'audio' ? [report] : []));
  const samples = windows.reduce((sum, { pcm }) => sum + samplesOf(pcm).length, 0);
  t.equal(samples, (15 + 1 + 20) * DETECTOR_FRAME, '480 ms before it was noticed, and all until its end');
  t.equal(windows[0]?.at, 15 * 32 + 1 * 32 - 32);
  t.equal(reports[0]?.on, 'speech', 'the voice is told before its sound');
  t.equal(reports.at(-1)?.on, 'speech', 'and its end behind it');
});

t.test(
  'ears: a lull is told behind all that was said before it, and again when the voice goes on',
  async (t) => {
    const reports: Report[] = [];
    const vad = new VadWindows(
      scripted(Array<boolean>(40).fill(true)).detector,
      (report) => reports.push(report),
      LISTENS,
    );
    const hear = (frames: number, value: number): Report[] => {
      vad.push(tone(frames * DETECTOR_FRAME, value));
      return reports.splice(0).filter(({ on }) => on !== 'speech');
    };
    const samplesOfAll = (heard: readonly Report[]): number =>
      heard.reduce((sum, each) => sum + (each.on === 'audio' ? each.pcm.length / 2 : 0), 0);
    const spoken = hear(10, 3000);
    t.same(hear(2, 60), [], 'a closure within a word is none');
    const lull = hear(1, 60);
    t.match(lull, [{ on: 'audio' }, { on: 'lull', active: true }]);
    t.equal(samplesOfAll([...spoken, ...lull]), 13 * DETECTOR_FRAME, 'all of it');
    t.same(hear(2, 60), [], 'told once');
    t.match(hear(1, 3000), [{ on: 'lull', active: false }]);
    t.same(hear(3, 200), [], 'a soft sound is no silence');
  },
);

/** Frames of silence that the voice ends with, and what its end tells of them: the frame in which it is told is silent too. */
for (const { quiet, value, silentMs } of [
  { quiet: 8, value: 0, silentMs: 9 * 32 },
  { quiet: 11, value: 60, silentMs: 12 * 32 },
  { quiet: 20, value: 0, silentMs: 21 * 32 },
  // Too little, or in noise: what every detector waits for.
  { quiet: 3, value: 0, silentMs: 256 },
  { quiet: 11, value: 500, silentMs: 256 },
])
  t.test(`ears: ${quiet} frames at ${value} before the end are ${silentMs} ms of silence`, async (t) => {
    const reports: Report[] = [];
    const pattern = [...Array<boolean>(20 + quiet).fill(true), false];
    const vad = new VadWindows(scripted(pattern).detector, (report) => reports.push(report), LISTENS);
    vad.push(tone(20 * DETECTOR_FRAME, 3000));
    vad.push(tone((quiet + 1) * DETECTOR_FRAME, value));
    t.match(reports.at(-1), { on: 'speech', active: false, silentMs });
  });

t.test('ears: a call that ends in mid-word ends the voice', async (t) => {
  const reports: Report[] = [];
  const { detector, released } = scripted([true, true, true]);
  const vad = new VadWindows(detector, (report) => reports.push(report), LISTENS);
  vad.push(tone(2 * DETECTOR_FRAME));
  vad.stop();
  t.match(reports.at(-1), { on: 'speech', active: false });
  t.equal(released(), 1);
});

t.test('loudness: quick to begin, slower to end', async (t) => {
  const detector = loudnessDetector();
  const hear = (value: number, frames: number) =>
    Array.from({ length: frames }, () => detector.push(tone(DETECTOR_FRAME, value)));
  t.same(hear(5000, 3), [false, true, true]);
  t.same(hear(0, 9), [...Array<boolean>(7).fill(true), false, false]);
  t.same([...hear(5000, 1), ...hear(100, 3)], [false, false, false, false], 'a click is no voice');
});

t.test('RTP: what is written can be read, and rubbish cannot', async (t) => {
  const writer = new RtpWriter(7, 111);
  writer.tick();
  const packet = writer.packet(Uint8Array.of(1, 2, 3), true);
  t.match(readRtp(packet, 111), { sequence: 0, timestamp: 960, payload: { length: 3 } });
  t.equal((packet[1] ?? 0) >> 7, 1, 'the first after silence is marked');
  t.equal(readRtp(packet, 96), undefined, 'another codec');
  t.equal(readRtp(Buffer.alloc(4), 111), undefined);
  const extended = Buffer.concat([
    packet.subarray(0, 12),
    Buffer.from([0xbe, 0xde, 0, 1, 0, 0, 0, 0]),
    Buffer.from([9]),
  ]);
  extended[0] = 0x90;
  t.equal(readRtp(extended, 111)?.payload[0], 9, 'behind an extension');
  const lying = Buffer.from(packet);
  lying[0] = 0xbf;
  t.equal(readRtp(lying, 111), undefined, 'an extension and contributors that are not there');
  const padded = Buffer.concat([packet, Buffer.from([0, 2])]);
  padded[0] = 0xa0;
  t.equal(readRtp(padded, 111)?.payload.length, 3);
  t.same([ahead(1, 65_535), ahead(65_535, 1), ahead(5, 5)], [2, -2, 0]);
});

t.test('pacer: a beat that throws is told so, and the others go on', async (t) => {
  const pacer = new Pacer();
  const errors: unknown[] = [];
  let beats = 0;
  const leaveBroken = pacer.join(
    () => {
      throw new Error('broken');
    },
    (error) => {
      errors.push(error);
      leaveBroken();
    },
  );
  const leave = pacer.join(
    () => (beats += 1),
    () => undefined,
  );
  await until('beats have gone by', () => beats > 3);
  leave();
  t.equal(errors.length, 1);
});
