/** Lengths that headers declare (codecs/decode/declared-length.ts): what is written into a copy of a file whose header has too few. */
import t from '../../../fixtures/tap.js';
import { lengthEdits } from '../../../../codecs/decode/declared-length.js';
import { headIn } from '../../../../codecs/decode/file-head.js';
import { sniff } from '../../../../codecs/decode/sniff.js';
import { seeded } from '../../../fixtures/random.js';

const SOUND = Buffer.from(Array.from({ length: 200 }, (_, at) => 128 + (at % 128)));
const LIST = Buffer.from('LIST\x08\0\0\0INFOwhat', 'latin1');
const ANNOTATION = Buffer.from('ANNO\0\0\0\x04what', 'latin1');
const W64_IDS = Buffer.from('f3acd3118cd100c04f8edb8a', 'hex');

function u32(value: number, bigEndian = false): Buffer {
  const bytes = Buffer.alloc(4);
  if (bigEndian) bytes.writeUInt32BE(value);
  else bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number, bigEndian = false): Buffer {
  const bytes = Buffer.alloc(8);
  if (bigEndian) bytes.writeBigInt64BE(BigInt(value));
  else bytes.writeBigInt64LE(BigInt(value));
  return bytes;
}

const FORMAT = Buffer.concat([Buffer.from('fmt '), u32(16), Buffer.alloc(16)]);

/** Files whose header declares `length` bytes of sound, before `content`. */
const MAKERS = {
  wav: (length: number, ...content: Buffer[]) =>
    Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), FORMAT, Buffer.from('data'), u32(length), ...content]),
  rf64: (length: number, ...content: Buffer[]) =>
    Buffer.concat([
      ...[
        Buffer.from('RF64\xff\xff\xff\xffWAVEds64', 'latin1'),
        u32(28),
        u64(0),
        u64(length),
        Buffer.alloc(12),
      ],
      ...[FORMAT, Buffer.from('data\xff\xff\xff\xff', 'latin1'), ...content],
    ]),
  aiff: (length: number, ...content: Buffer[]) =>
    Buffer.concat([
      Buffer.from('FORM\0\0\0\0AIFFCOMM\0\0\0\x12', 'latin1'),
      Buffer.alloc(18),
      Buffer.from('SSND'),
      u32(length, true),
      ...content,
    ]),
  w64: (length: number, ...content: Buffer[]) =>
    Buffer.concat([
      ...[Buffer.from('riff\x2e\x91\xcf\x11', 'latin1'), Buffer.alloc(32)],
      ...[Buffer.from('fmt '), W64_IDS, u64(40), Buffer.alloc(16)],
      ...[Buffer.from('data'), W64_IDS, u64(length + 24), ...content],
    ]),
  caf: (length: number, ...content: Buffer[]) =>
    Buffer.concat([
      ...[Buffer.from('caff\0\x01\0\0desc'), u64(32, true), Buffer.alloc(32)],
      ...[Buffer.from('data'), u64(length, true), ...content],
    ]),
} as const;

/** The file as the decoder gets it. */
async function repaired(file: Buffer): Promise<Buffer> {
  const head = headIn(file);
  const container = sniff(head);
  const copy = Buffer.from(file);
  for (const { at, bytes } of container ? await lengthEdits(file, head, container) : []) copy.set(bytes, at);
  return copy;
}

for (const [name, make] of Object.entries(MAKERS)) {
  t.test(name, async (t) => {
    const behind = name === 'aiff' || name === 'caf' ? ANNOTATION : LIST;
    const right = make(SOUND.length, SOUND);
    t.same(await repaired(right), right, 'a length that is right stays');
    const long = make(SOUND.length * 2, SOUND);
    t.same(await repaired(long), long, 'as does one of a file that was cut short');
    const few = make(SOUND.length, SOUND, Buffer.from([200, 201]));
    t.same(await repaired(few), few, 'and one before a few bytes');
    for (const short of [0, 1, SOUND.length / 2]) {
      const whole = await repaired(make(short, SOUND));
      const at = whole.length - SOUND.length;
      // RF64 becomes RIFF, and AIFF has a length of the whole.
      const wanted = make(SOUND.length, SOUND);
      if (name === 'rf64') {
        wanted.write('RIFF');
        wanted.copy(whole, 28, 28, 36);
        wanted.writeUInt32LE(SOUND.length, at - 4);
      }
      if (name === 'aiff') wanted.writeUInt32BE(wanted.length - 8, 4);
      t.same(whole, wanted, `${short} bytes declared`);
    }
    if (name === 'w64' || name === 'caf') return;
    const listed = make(SOUND.length, SOUND, behind);
    t.same(await repaired(listed), listed, 'a chunk behind the samples is no sound');
    const both = await repaired(make(SOUND.length / 2, SOUND, behind));
    const lengthAt = both.length - behind.length - SOUND.length - 4;
    const length = name === 'aiff' ? both.readUInt32BE(lengthAt) : both.readUInt32LE(lengthAt);
    t.equal(length, SOUND.length, 'not even behind samples that the header left out');
  });
}

t.test('a CAF without a length reaches to the end of the file', async (t) => {
  const file = MAKERS.caf(-1, SOUND);
  t.same(await repaired(file), file);
});

t.test('bytes at random never throw, and edits lie in the file', async (t) => {
  const random = seeded(11);
  let edited = 0;
  for (const make of Object.values(MAKERS)) {
    const whole = make(SOUND.length / 2, SOUND, LIST);
    for (let round = 0; round < 1000; round += 1) {
      const file = Buffer.from(whole.subarray(0, Math.floor(random() * (whole.length + 1))));
      for (let flips = Math.floor(random() * 4); flips > 0 && file.length > 0; flips -= 1)
        file[Math.floor(random() * Math.min(120, file.length))] = Math.floor(random() * 256);
      const head = headIn(file);
      const container = sniff(head);
      const edits = container ? await lengthEdits(file, head, container) : [];
      if (edits.length > 0) edited += 1;
      if (edits.some(({ at, bytes }) => at < 0 || at + bytes.length > file.length))
        t.fail(file.toString('hex'));
    }
  }
  t.ok(edited > 100, `${edited} of them are edited`);
});
