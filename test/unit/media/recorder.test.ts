/** Recording a call: both sides on one timeline, whatever the network and the client do. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decoder, Encoder } from '@evan/opus';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { bytesOf, joinSamples, samplesOf } from '../../../contracts/audio.js';
import { LIMITS } from '../../../contracts/limits.js';
import { lastPage, PRE_SKIP } from '../../../media/ogg.js';
import { type RecordedRole, Recorder, trackFile } from '../../../media/recorder.js';
import { RecorderFile } from '../../../media/recorder-file.js';
import { SampleRecording } from '../../../media/recording.js';
import { until } from '../../fixtures/until.js';
import { pagesOf, packetOf } from '../../fixtures/recordings/ogg-pages.js';

/** A tone in Opus, 20 ms per packet, as clients send it. */
function speech(packets: number): Uint8Array[] {
  const encoder = new Encoder({ channels: 1, sample_rate: 48_000, application: 'audio' });
  return Array.from({ length: packets }, (_, packet) => {
    const sample = (_: unknown, at: number): number => 8000 * Math.sin((packet * 960 + at) / 20);
    return Uint8Array.from(encoder.encode(bytesOf(Int16Array.from({ length: 960 }, sample))));
  });
}

/** A recorder with its own clock. */
class Taping {
  readonly failures: [RecordedRole, string][] = [];
  readonly recorder: Recorder;
  #ms = 0;

  constructor(readonly folder: string) {
    const failed = (role: RecordedRole, reason: string): void => void this.failures.push([role, reason]);
    this.recorder = new Recorder(folder, 1, failed, () => this.#ms);
  }

  static in(t: Pick<Test, 'teardown'>): Taping {
    const folder = mkdtempSync(join(tmpdir(), 'tape-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    return new Taping(join(folder, 'recordings', 'sess_1'));
  }

  /** Lets time pass without beats. */
  stall(ms: number): void {
    this.#ms += ms;
  }

  beats(count: number, during: (beat: number) => void = () => undefined): void {
    for (let beat = 0; beat < count; beat += 1) {
      this.#ms += 20;
      this.recorder.beat();
      during(beat);
    }
  }

  /** A packet of the user, the `number`th of its stream. */
  user(packet: Uint8Array, number: number): void {
    this.recorder.user({ timestamp: (0xffff_f000 + number * 960) >>> 0, payload: packet });
  }

  bytes(role: RecordedRole): Buffer {
    return readFileSync(join(this.folder, trackFile(role, 1)));
  }

  /** Length of a side in ms, and the spans with sound, in steps of 20 ms. */
  heard(role: RecordedRole): { readonly ms: number; readonly spans: readonly (readonly [number, number])[] } {
    const [, , ...audio] = pagesOf(this.bytes(role));
    const decoder = new Decoder({ channels: 1, sample_rate: 48_000 });
    const packets = audio.flatMap((page) => page.packets.map((packet) => samplesOf(decoder.decode(packet))));
    const samples = joinSamples(packets);
    const spans: [number, number][] = [];
    for (let at = PRE_SKIP; at + 960 <= samples.length; at += 960) {
      const loud = samples.subarray(at, at + 960).some((sample) => Math.abs(sample) > 1000);
      const ms = Math.round((at - PRE_SKIP) / 48);
      const last = spans.at(-1);
      if (loud && last?.[1] === ms) last[1] = ms + 20;
      else if (loud) spans.push([ms, ms + 20]);
    }
    return { ms: (samples.length - PRE_SKIP) / 48, spans };
  }
}

/** Checks that sound is where it should be; a decoder's filters may move the edges by a frame. */
function spansAre(
  t: Test,
  { spans }: ReturnType<Taping['heard']>,
  wanted: readonly (readonly [number, number])[],
): void {
  const near = spans.every(([from, to], index) => {
    const [begin = 0, end = 0] = wanted[index] ?? [];
    return Math.abs(from - begin) <= 20 && Math.abs(to - end) <= 20;
  });
  if (spans.length !== wanted.length || !near) t.same(spans, wanted);
  else t.pass('the sound is where it should be');
}

t.test('both sides of a call on one timeline', async (t) => {
  const taping = Taping.in(t);
  const { recorder } = taping;
  const [agent, user] = [speech(50), speech(25)];
  taping.beats(100);
  taping.beats(50, (beat) => recorder.agent(agent[beat]!));
  taping.beats(50, (beat) => beat < 25 && taping.user(user[beat]!, beat));
  await recorder.finish();
  const heard = { agent: taping.heard('agent'), user: taping.heard('user') };
  spansAre(t, heard.agent, [[2020, 3020]]);
  spansAre(t, heard.user, [[3020, 3520]]);
  t.equal(heard.agent.ms, heard.user.ms, 'they are as long as one another');
  t.ok(Math.abs(heard.agent.ms - 4020) <= 20);
  const mode = (path: string): number => statSync(path).mode & 0o777;
  t.same([mode(taping.folder), mode(join(taping.folder, 'user.ogg'))], [0o700, 0o600]);
  t.same(taping.failures, []);
});

t.test("a recording has the user's voice when it was said, through pauses, losses and bursts", async (t) => {
  const taping = Taping.in(t);
  const voice = speech(200);
  taping.beats(25, (beat) => taping.user(voice[beat]!, beat));
  // Muted for half a second; the client's timestamps go on.
  taping.beats(25);
  taping.beats(
    25,
    (beat) => beat !== 10 && beat !== 11 && beat !== 12 && taping.user(voice[beat]!, 50 + beat),
  );
  // No packet arrives for 300 ms, then all of them at once.
  taping.beats(15);
  for (let late = 0; late < 15; late += 1) taping.user(voice[late]!, 75 + late);
  taping.beats(50);
  // A new connection with other timestamps, which wrap around.
  taping.recorder.renew();
  taping.beats(25, (beat) => taping.user(voice[beat]!, 5_000_000 + beat));
  // Timestamps that leap are ignored.
  taping.beats(25);
  taping.beats(10, (beat) => taping.user(voice[beat]!, beat % 2 === 0 ? 9000 : 90_000_000));
  await taping.recorder.finish();
  const heard = taping.heard('user');
  spansAre(t, heard, [
    [20, 520],
    [1020, 1220],
    [1280, 1820],
    [2820, 3320],
    [3820, 4020],
  ]);
});

t.test('what was heard while the machine stood still is recorded whole, and without a gap', async (t) => {
  const taping = Taping.in(t);
  const agent = speech(60);
  taping.beats(50);
  taping.beats(20, (beat) => taping.recorder.agent(agent[beat]!));
  // Ten frames are with the client, which hears them meanwhile.
  taping.stall(280);
  taping.beats(1, () => {
    for (let late = 0; late < 10; late += 1) taping.recorder.agent(agent[20 + late]!, 14 - late);
  });
  taping.beats(20);
  taping.beats(20, (beat) => taping.recorder.agent(agent[30 + beat]!));
  await taping.recorder.finish();
  const [first, second] = taping.heard('agent').spans;
  t.ok(first && Math.abs(first[1] - first[0] - 600) <= 40, `the first thirty in one: ${String(first)}`);
  t.ok(second && Math.abs(second[1] - second[0] - 400) <= 40, `and those behind them: ${String(second)}`);
});

t.test('frames behind a stall that was caught up are recorded as well', async (t) => {
  const taping = Taping.in(t);
  const agent = speech(60);
  taping.beats(50);
  taping.beats(20, (beat) => taping.recorder.agent(agent[beat]!));
  // Little more than may be caught up: the call's time goes on by less than the client has heard.
  taping.stall(240);
  taping.beats(1, () => {
    for (let late = 0; late < 10; late += 1) taping.recorder.agent(agent[20 + late]!, 12 - late);
  });
  taping.beats(30, (beat) => taping.recorder.agent(agent[30 + beat]!));
  await taping.recorder.finish();
  const { spans } = taping.heard('agent');
  const length = spans.reduce((sum, [from, to]) => sum + to - from, 0);
  t.ok(Math.abs(length - 1200) <= 40, `all sixty: ${JSON.stringify(spans)}`);
});

t.test(
  'a line that sends a recording at once is recorded whole, and falls into step in its silence',
  async (t) => {
    const taping = Taping.in(t);
    const recording = new SampleRecording(taping.recorder, 2);
    const tone = Int16Array.from({ length: 16_000 * 2.5 }, (_, at) => 8000 * Math.sin(at / 7));
    taping.beats(10);
    recording.user(tone);
    recording.user(new Int16Array(16_000 * 2));
    taping.beats(200);
    recording.user(tone.subarray(0, 16_000));
    taping.beats(60);
    await taping.recorder.finish();
    const [first, second] = taping.heard('user').spans;
    t.ok(first && Math.abs(first[1] - first[0] - 2500) <= 60, `all of it: ${String(first)}`);
    t.ok(second && Math.abs(second[0] - 4200) <= 200, `what follows at its time: ${String(second)}`);
  },
);

t.test(
  'no client makes a recording longer than its call, and no stop of ours makes it shorter',
  async (t) => {
    const taping = Taping.in(t);
    const [packet] = speech(1);
    taping.beats(50, (beat) => {
      for (let more = 0; more < 40; more += 1) taping.user(packet!, beat * 40 + more);
    });
    t.doesNotThrow(() => {
      for (const payload of [new Uint8Array(), packetOf(60_000), Uint8Array.of(0xff, 0x3f)])
        taping.recorder.user({ timestamp: 0, payload });
    });
    taping.stall(4000);
    taping.beats(50, (beat) => beat === 49 && taping.recorder.agent(packet!));
    await taping.recorder.finish();
    const heard = { agent: taping.heard('agent'), user: taping.heard('user') };
    t.ok(
      Math.abs(heard.agent.ms - 5840) <= 60,
      `${heard.agent.ms} ms: the stop but for what may be caught up`,
    );
    t.ok(heard.user.ms - heard.agent.ms < 1200, `${heard.user.ms} ms of a client that sent 40 s in one`);
    t.ok(Math.max(...heard.user.spans.flat()) < 2200);
  },
);

t.test('a file grows during the call, and replaces one of an earlier call', async (t) => {
  const taping = Taping.in(t);
  taping.beats(200);
  const grown = await until('the first pages are written', () => {
    try {
      return lastPage(taping.bytes('agent'));
    } catch {
      return undefined;
    }
  });
  t.notOk(grown.ended);
  t.ok(grown.samples >= 0);
  const again = new Taping(taping.folder);
  again.beats(10);
  await again.recorder.finish();
  await taping.recorder.finish();
  const { ended, samples } = lastPage(again.bytes('agent'))!;
  t.same([ended, Math.round((samples + PRE_SKIP) / 48)], [true, 220]);
  await again.recorder.finish();
  again.recorder.beat();
  again.recorder.agent(packetOf(80));
  again.user(packetOf(80), 0);
  t.equal(lastPage(again.bytes('agent'))!.samples, samples, 'nothing comes behind the end');
});

t.test('a disk that fails ends the recording, not the call', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tape-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'taken'), '');
  const taping = new Taping(join(folder, 'taken', 'sess_1'));
  taping.beats(200, () => taping.recorder.agent(packetOf(80)));
  await taping.recorder.finish();
  t.same(taping.failures.sort(), [
    ['agent', 'ENOTDIR'],
    ['user', 'ENOTDIR'],
  ]);

  const reasons: string[] = [];
  const slow = new RecorderFile(join(folder, 'slow.ogg'), (reason) => void reasons.push(reason));
  slow.write(new Uint8Array(1000));
  for (let more = 0; more < 3; more += 1) slow.write(new Uint8Array(LIMITS.recording.waitingBytes));
  await slow.close();
  t.same(reasons, ['the disk does not keep up']);
  t.equal(statSync(join(folder, 'slow.ogg')).size <= 1000, true, 'what waits for it is bounded');
});
