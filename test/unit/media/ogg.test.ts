/** Ogg pages around Opus packets (RFC 3533, RFC 6716, RFC 7845); the test has its own reader of pages. */
import { Decoder, Encoder } from '@evan/opus';
import t from '../../fixtures/tap.js';
import { bytesOf, samplesOf } from '../../../contracts/audio.js';
import { lastPage, OggOpusWriter, PRE_SKIP, TAIL_BYTES } from '../../../media/ogg.js';
import { samplesIn, silence } from '../../../media/ogg-packets.js';
import { pagesOf, packetOf } from '../../fixtures/recordings/ogg-pages.js';

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
