/**
 * Recording a call: Ogg pages around Opus packets (RFC 3533, RFC 6716, RFC 7845), and both sides of a call on one
 * timeline, whatever the network and the client do. The test has its own reader of pages.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decoder, Encoder } from '@evan/opus';
import t, { type Test } from 'tap';
import { bytesOf, joinSamples, samplesOf } from '../../contracts/audio.js';
import { LIMITS } from '../../contracts/limits.js';
import { lastPage, OggOpusWriter, PRE_SKIP, TAIL_BYTES } from '../../media/ogg.js';
import { samplesIn, silence } from '../../media/ogg-packets.js';
import { type RecordedRole, Recorder, trackFile } from '../../media/recorder.js';
import { RecorderFile } from '../../media/recorder-file.js';
import { until } from '../fixtures/until.js';

/** The checksum of a page, bit by bit, as RFC 3533 defines it. */
function crcOf(page: Uint8Array): number {
  let crc = 0;
  for (const byte of page)
    for (let bit = 7; bit >= 0; bit -= 1) {
      const carry = (crc >>> 31) ^ ((byte >> bit) & 1);
      crc = ((crc << 1) ^ (carry ? 0x04c11db7 : 0)) >>> 0;
    }
  return crc;
}

interface Page {
  readonly flags: number;
  readonly position: number;
  readonly serial: number;
  readonly number: number;
  readonly sound: boolean;
  readonly packets: readonly Buffer[];
}

/** Reads the pages; fails on anything between or behind them. */
function pagesOf(bytes: Buffer): Page[] {
  const pages: Page[] = [];
  for (let at = 0; at < bytes.length;) {
    if (bytes.toString('latin1', at, at + 5) !== 'OggS\0') throw new Error(`no page at ${at}`);
    const lacing = bytes.subarray(at + 27, at + 27 + bytes[at + 26]!);
    let from = at + 27 + lacing.length;
    const packets: Buffer[] = [];
    let length = 0;
    for (const value of lacing) {
      length += value;
      if (value === 255) continue;
      packets.push(bytes.subarray(from, from + length));
      from += length;
      length = 0;
    }
    if (length > 0) throw new Error('a packet spans pages');
    const page = Buffer.from(bytes.subarray(at, from));
    page.writeUInt32LE(0, 22);
    pages.push({
      flags: bytes[at + 5]!,
      position: Number(bytes.readBigUInt64LE(at + 6)),
      serial: bytes.readUInt32LE(at + 14),
      number: bytes.readUInt32LE(at + 18),
      sound: crcOf(page) === bytes.readUInt32LE(at + 22),
      packets,
    });
    at = from;
  }
  return pages;
}

const OPUS_20_MS = 0x78;
const packetOf = (bytes: number): Uint8Array =>
  Uint8Array.of(OPUS_20_MS, ...Array<number>(bytes - 1).fill(7));

/** A stream of `packets` of 20 ms each, and the offset of each page's end. */
function streamOf(packets: readonly Uint8Array[], ends = true) {
  const writer = new OggOpusWriter(77);
  const parts = [writer.head()];
  for (const packet of packets) {
    const page = writer.add(packet, 960);
    if (page) parts.push(page);
  }
  if (ends) parts.push(writer.end());
  return Buffer.concat(parts);
}

t.test('an Ogg stream: heads, positions, checksums, packets of any size', async (t) => {
  const packets = Array.from({ length: 130 }, (_, index) => packetOf([3, 254, 255, 256, 1500][index % 5]!));
  const pages = pagesOf(streamOf(packets));
  t.ok(
    pages.every(({ sound, serial }) => sound && serial === 77),
    'each page is sound',
  );
  t.same(
    pages.map(({ number }) => number),
    pages.map((_, index) => index),
  );
  t.same(
    pages.map(({ flags }) => flags),
    [2, ...Array<number>(pages.length - 2).fill(0), 4],
    'the first and the last say so',
  );
  const [head, tags, ...audio] = pages;
  t.same([...head!.packets[0]!], [...Buffer.from('OpusHead'), 1, 1, 0x38, 1, 0x80, 0xbb, 0, 0, 0, 0, 0]);
  t.equal(tags!.packets[0]!.toString('latin1', 0, 8), 'OpusTags');
  t.same([head!.position, tags!.position], [0, 0]);
  t.same(
    audio.flatMap(({ packets }) => packets.map((packet) => packet.length)),
    packets.map(({ length }) => length),
  );
  let samples = 0;
  for (const page of audio) t.equal(page.position, (samples += page.packets.length * 960));
  t.ok(audio.length >= 3 && audio.every(({ packets }) => packets.length <= 50), 'a page a second at most');
});

t.test('a cut-off file holds its whole pages', async (t) => {
  const whole = streamOf(Array.from({ length: 120 }, () => packetOf(80)));
  t.same(lastPage(whole), { samples: 120 * 960 - PRE_SKIP, ended: true });
  t.same(lastPage(whole.subarray(0, -1)), { samples: 100 * 960 - PRE_SKIP, ended: false });
  const seen = new Set<number | undefined>();
  for (let size = 0; size < whole.length; size += 7) {
    const last = lastPage(whole.subarray(0, size));
    if (last?.ended) t.fail('it is not ended');
    seen.add(last?.samples);
  }
  t.same([...seen], [undefined, 0, 50 * 960 - PRE_SKIP, 100 * 960 - PRE_SKIP]);
  t.equal(lastPage(Buffer.from('OggS and nothing of the kind'.repeat(20))), undefined);
  const broken = Buffer.from(whole);
  broken[broken.length - 1]! ^= 1;
  t.same(lastPage(broken), { samples: 100 * 960 - PRE_SKIP, ended: false }, 'a broken page is none');
  const large = streamOf(Array.from({ length: 120 }, () => packetOf(1300)));
  t.ok(large.length > TAIL_BYTES);
  t.same(lastPage(large.subarray(-TAIL_BYTES)), { samples: 120 * 960 - PRE_SKIP, ended: true });
});

t.test('how long packets sound, and silence of any length', async (t) => {
  const encoder = new Encoder({ channels: 1, sample_rate: 48_000, application: 'audio' });
  for (const ms of [2.5, 5, 10, 20, 40, 60])
    t.equal(samplesIn(encoder.encode(bytesOf(new Int16Array(48 * ms)))), 48 * ms, `${ms} ms`);
  const lengths = {
    'SILK, 60 ms': [[0b01011_000], 2880],
    'hybrid, two of 20 ms': [[0b01101_001], 1920],
    'CELT, six of 20 ms': [[0b11111_011, 6], 5760],
    'seven of 20 ms are too many': [[0b11111_011, 7], 0],
    'no frame': [[0b11111_011], 0],
    nothing: [[], 0],
  } as const;
  for (const [name, [bytes, samples]] of Object.entries(lengths))
    t.equal(samplesIn(Uint8Array.from(bytes)), samples, name);

  const decoder = new Decoder({ channels: 1, sample_rate: 48_000 });
  const packets = [...silence(48 * 57.5 + 50)];
  const sounds = packets.map(({ packet }) => samplesOf(decoder.decode(packet)));
  t.same(
    sounds.map(({ length }) => length / 48),
    [20, 20, 10, 5, 2.5],
  );
  t.ok(sounds.every((samples) => samples.every((sample) => sample === 0)));
});

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
