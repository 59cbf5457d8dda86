/** The audio of a call without a network: microphone, voice activity, the beat that paces them, RTP. */
import { MessageChannel } from 'node:worker_threads';
import t from '../../fixtures/tap.js';
import { bytesOf, samplesOf } from '../../../contracts/audio.js';
import { DETECTOR_FRAME } from '../../../media/detector-frame.js';
import { VadWindows, type VoiceDetector } from '../../../media/vad-windows.js';
import { Microphone } from '../../../media/embedded/microphone.js';
import { ahead, readRtp, RtpWriter } from '../../../media/embedded/rtp.js';
import { loudnessDetector } from '../../../media/loudness.js';
import { Pacer } from '../../../media/pacer.js';
import type { Report } from '../../../media/wire.js';
import { exactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

const tone = (samples: number, value = 1000): Int16Array => new Int16Array(samples).fill(value);

/** Long enough for a microphone that sends nothing to be silent, and short enough for the beats to be made up for. */
const HELD_UP_MS = 185;

/** A microphone; each packet decodes to 20 ms of its own value, an empty one cannot be decoded. */
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

t.test('the microphone puts packets in order, and leaves doubles out', async (t) => {
  const { heard, receive } = microphone();
  for (const sequence of [1, 3, 2, 2, 4, 1]) receive(sequence);
  t.same(heard, [100, 200, 300, 400]);
});

t.test('the microphone follows sequence numbers beyond their end', async (t) => {
  const { heard, receive } = microphone();
  receive(65_535, 1);
  receive(65_536, 2);
  receive(65_537, 3);
  t.same(heard, [100, 200, 300]);
});

t.test('the microphone repeats a lost frame softly, and turns a long loss into silence', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1, 8);
  for (const sequence of [3, 4, 5, 6]) receive(sequence, 1);
  t.same(heard, [800, 400, 100, 100, 100, 100]);
  t.same(mic.counts, { received: 5, lost: 1 });
  receive(60, 2);
  for (const sequence of [61, 62, 63]) receive(sequence, 2);
  t.same(heard.slice(6, 12), [50, 25, 12, 6, 3, 200], 'at most five are made up');
});

t.test('the microphone gives silence if nothing comes, so that a muted one ends the turn', async (t) => {
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

t.test('the microphone plays what waits for a lost packet if nothing more comes', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1, 4);
  receive(3, 1);
  for (let beat = 0; beat < 8; beat += 1) mic.beat();
  t.same(heard, [400, 200, 100]);
});

t.test('the microphone goes on with a stream that begins anew, and drops broken packets', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1);
  receive(20_000, 5);
  t.same(heard, [100, 500]);
  mic.receive({ ssrc: 1, sequence: 20_001, timestamp: 0, payload: new Uint8Array() });
  t.equal(heard.at(-1), 0);
});

t.test('the microphone plays one of two streams, and the other once the first is quiet', async (t) => {
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

t.test('the microphone never plays faster than real time', async (t) => {
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

t.test(
  'microphone: time in which the machine stood still counts, so that audio after it is heard',
  async (t) => {
    const { mic, heard, receive } = microphone();
    let sequence = 0;
    for (let stall = 0; stall < 10; stall += 1) {
      mic.beat(50);
      for (let frame = 0; frame < 50; frame += 1) receive(sequence++, 1);
    }
    t.equal(heard.length, 500, 'every frame of ten stalls of a second');
  },
);

const LISTENS = (): boolean => true;

/** A voice detector with given answers, frame by frame. */
function scripted(active: readonly boolean[]): VoiceDetector {
  let at = 0;
  return { push: () => active[at++] ?? false };
}

t.test('VAD: voice is reported with the breath before it, in windows, until it ends', async (t) => {
  const reports: Report[] = [];
  const pattern = [...Array<boolean>(30).fill(false), ...Array<boolean>(20).fill(true), false, false];
  const vad = new VadWindows(scripted(pattern), (report) => reports.push(report), LISTENS);
  // In pieces that do not match frames.
  for (let sent = 0; sent < pattern.length * DETECTOR_FRAME; sent += 320) vad.push(tone(320, 1));
  const speech = reports.filter(({ on }) => on === 'speech');
  exactly(t, speech, [
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
  'VAD: a short pause is reported after all audio before it, and again when the voice continues',
  async (t) => {
    const reports: Report[] = [];
    const vad = new VadWindows(
      scripted(Array<boolean>(40).fill(true)),
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
    const pause = hear(1, 60);
    exactly(t, pause, [{ on: 'audio' }, { on: 'shortPause', active: true }]);
    t.equal(samplesOfAll([...spoken, ...pause]), 13 * DETECTOR_FRAME, 'all of it');
    t.same(hear(2, 60), [], 'told once');
    exactly(t, hear(1, 3000), [{ on: 'shortPause', active: false }]);
    t.same(hear(3, 200), [], 'a soft sound is no silence');
  },
);

/** Frames of silence before the end of a voice, and the silence that its report contains: the reporting frame is silent, too. */
for (const { quiet, value, silentMs } of [
  { quiet: 8, value: 0, silentMs: 9 * 32 },
  { quiet: 11, value: 60, silentMs: 12 * 32 },
  { quiet: 15, value: 0, silentMs: 16 * 32 },
  // Too little silence, or noise: the report has the silence that every detector waits for.
  { quiet: 3, value: 0, silentMs: 256 },
  { quiet: 11, value: 500, silentMs: 256 },
])
  t.test(`VAD: ${quiet} frames at ${value} before the end are ${silentMs} ms of silence`, async (t) => {
    const reports: Report[] = [];
    const pattern = [...Array<boolean>(20 + quiet).fill(true), false];
    const vad = new VadWindows(scripted(pattern), (report) => reports.push(report), LISTENS);
    vad.push(tone(20 * DETECTOR_FRAME, 3000));
    vad.push(tone((quiet + 1) * DETECTOR_FRAME, value));
    exactly(t, reports.at(-1), { on: 'speech', active: false, silentMs });
  });

t.test('VAD: a call that ends in mid-word ends the voice', async (t) => {
  const reports: Report[] = [];
  const vad = new VadWindows(scripted([true, true, true]), (report) => reports.push(report), LISTENS);
  vad.push(tone(2 * DETECTOR_FRAME));
  vad.stop();
  exactly(t, reports.at(-1), { on: 'speech', active: false });
});

t.test('voice detection by loudness begins quickly and ends slowly', async (t) => {
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
  exactly(t, readRtp(packet, 111), { sequence: 0, timestamp: 960, payload: { length: 3 } });
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

t.test('a pacer that was held up does not take waiting packets for silence', async (t) => {
  const { mic, heard, receive } = microphone();
  const { port1: network, port2: socket } = new MessageChannel();
  socket.on('message', (sequence: number) => receive(sequence));
  const leave = new Pacer().join(
    () => mic.beat(),
    () => undefined,
  );
  t.teardown(() => {
    leave();
    network.close();
  });
  receive(1);
  for (let sequence = 2; sequence <= 9; sequence += 1) network.postMessage(sequence);
  for (const end = performance.now() + HELD_UP_MS; performance.now() < end;);
  await until('all packets are heard', () => heard.includes(900));
  t.same(heard.slice(0, 9), [100, 200, 300, 400, 500, 600, 700, 800, 900]);
});

t.test('a pacer reports a beat that throws, and the others continue', async (t) => {
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
