/** Calls are judged by the audio alone, in both directions. */
import t from 'tap';
import { mulawOf, samplesOf } from '../src/audio/mulaw.js';
import { Heard } from '../src/calls/heard.js';
import { plainRtp } from '../src/calls/room-connection.js';
import { LinePlayer } from '../src/calls/line-player.js';
import { MULAW } from '../src/audio/line-audio.js';
import { encodeUtterance, SILENCE } from '../src/calls/utterance.js';
import { stereoOf } from '../src/calls/worst-turns.js';
import { recoveryOf } from '../src/scenarios/faults.js';
import { slopeOf } from '../src/scenarios/soak.js';

/** 24 kHz samples: half a second of silence, a second of tone, half a second of silence. */
const speech = encodeUtterance(Buffer.concat([Buffer.alloc(24_000), loud(24_000), Buffer.alloc(24_000)]));

function loud(samples: number): Buffer {
  const pcm = Buffer.alloc(samples * 2);
  for (let index = 0; index < samples; index += 1)
    pcm.writeInt16LE(Math.round(8000 * Math.sin(index / 8)), index * 2);
  return pcm;
}

/** An RTP packet of the agent's voice. */
function packetOf(sequence: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(sequence, 2);
  return Buffer.concat([header, payload]);
}

t.test('recorded speech knows its first and its last sound', async (t) => {
  t.equal(speech.packets.length, 100);
  t.ok(Math.abs(speech.from - 500) < 2);
  t.ok(Math.abs(speech.to - 1500) < 2);
});

t.test('an agent is heard when its audio can be, not when packets come', async (t) => {
  const heard = new Heard();
  const begun = performance.now();
  for (let index = 0; index < 20; index += 1) heard.take(packetOf(index, SILENCE));
  t.equal(heard.firstFrom(begun), undefined);
  speech.packets.forEach((packet, index) => heard.take(packetOf(20 + index, packet)));
  const first = heard.firstFrom(begun) ?? Number.NaN;
  t.ok(first >= begun);
  t.equal(heard.firstFrom(heard.last + 1), undefined);
  t.equal(heard.silenceBehind(begun, 700, heard.last + 699), undefined, 'a pause is no silence');
  t.equal(heard.silenceBehind(begun, 700, heard.last + 701), heard.last);
  t.ok(heard.audibleBetween(begun, Infinity) >= 900);
});

t.test('packets that never came are lost; one that came behind its successors is not 65,000', async (t) => {
  const heard = new Heard();
  for (const sequence of [65_534, 65_535, 0, 3, 2, 4]) heard.take(packetOf(sequence, SILENCE));
  t.equal(heard.total, 6);
  t.equal(heard.lost, 3);
});

t.test('additions of a server to a packet are left out', async (t) => {
  const packet = packetOf(7, Buffer.of(1, 2, 3));
  packet[0] = 0x80;
  t.same(plainRtp(packet), packet, 'nothing');
  const added = Buffer.concat([
    packet.subarray(0, 12),
    Buffer.alloc(4),
    Buffer.of(0xbe, 0xde, 0, 1, 0, 0, 0, 0),
  ]);
  added[0] = 0x80 | 0x20 | 0x10 | 1;
  const padded = Buffer.concat([added, Buffer.of(1, 2, 3, 0, 2)]);
  t.same(plainRtp(padded), packet, 'a source, an extension, padding');
  t.equal(plainRtp(Buffer.concat([added, Buffer.of(0, 2)])), undefined, 'nothing but padding');
  t.equal(plainRtp(packet.subarray(0, 12)), undefined);
});

t.test('a recording has the caller on the left and the agent on the right, each at its time', async (t) => {
  const said = [{ at: 1000, from: 1000, to: 1020, pcm: Buffer.alloc(480 * 2, 1) }];
  const heard = [1500, 1500].map((at) => ({ at, isAudible: true, pcm: Buffer.alloc(480 * 2, 2) }));
  const stereo = stereoOf(said, heard);
  const sample = (index: number, channel: number): number => stereo.readInt16LE((index * 2 + channel) * 2);
  t.equal(stereo.length, (12_000 + 960) * 4, 'half a second later, and what came in a burst in a row');
  t.same([sample(0, 0), sample(0, 1)], [0x0101, 0]);
  t.same([sample(12_000, 0), sample(12_000, 1)], [0, 0x0202]);
  t.equal(sample(12_959, 1), 0x0202);
});

t.test('recovery lasts until the last failed request was due', async (t) => {
  const outcome = {
    due: Float64Array.of(0, 1000, 2000, 3000),
    lateness: new Float64Array(4),
    readings: { e2e: Float64Array.of(5, Number.NaN, Number.NaN, 5) },
    failures: { 'cut off': 2 },
    seconds: 4,
    cpu: 0,
  };
  const conditions = { generatorCpu: 0, lateness: 0, others: 0, stolen: 0 };
  const phase = { outcomes: [outcome], cost: undefined, conditions };
  t.equal(recoveryOf(phase, 500), 1500);
  t.equal(recoveryOf(phase, 2500), 0, 'what failed before was not its doing');
});

t.test('growth is the slope of the best line', async (t) => {
  t.equal(
    slopeOf([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
    2,
  );
});

t.test('µ-law comes back as it was, to a sixteenth of its loudness', async (t) => {
  const levels = [0, 4, 100, -100, 1000, -8031, 32_124, -32_124];
  const pcm = Buffer.from(Int16Array.from(levels).buffer);
  const heard = [...samplesOf(mulawOf(pcm))];
  heard.forEach((sample, at) =>
    t.ok(Math.abs(sample - levels[at]!) <= Math.abs(levels[at]!) / 16 + 4, `${levels[at]}: ${sample}`),
  );
  // ITU-T G.711, table 2a.
  t.same([...mulawOf(Buffer.from(Int16Array.of(32_124, 0, -32_124).buffer))], [0x80, 0xff, 0x00]);
});

t.test('a frame is late when everything before it has been played, and a pause is none', async (t) => {
  const player = new LinePlayer(MULAW);
  const voice = mulawOf(loud(160));
  for (const at of [1000, 1000, 1000, 1020, 1061]) player.take(voice, at);
  t.equal(player.late, 0, 'there was sound until 1,080');
  player.take(voice, 1101);
  t.equal(player.late, 1);
  player.take(Buffer.alloc(160, 0xff), 1621);
  t.same([player.late, player.first, player.last, player.total], [1, 1000, 1101, 7]);
  t.equal(player.clear(1630), 1630, 'silent once it is dropped');
  player.take(voice, 2000);
  t.equal(player.clear(2500), 2020, 'it was silent before');
});
