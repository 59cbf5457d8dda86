/** The sample rate that an uploaded file declares, in every container whose rate is checked (docs/contract/limits.md). */
import t from '../../../fixtures/tap.js';
import { checkDeclaredRate } from '../../../../codecs/decode/declared-rate.js';
import { headIn } from '../../../../codecs/decode/file-head.js';
import { sniff } from '../../../../codecs/decode/sniff.js';
import { fixture, wavFile } from '../../../fixtures/codecs/audio.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

function check(file: Uint8Array): void {
  const head = headIn(file);
  checkDeclaredRate(head, sniff(head) ?? 'mp3');
}

/** Files of each container that can declare any rate, with that rate in Hz. */
const DECLARING: Record<string, (rate: number) => Buffer> = {
  wav: (rate) => Buffer.from(wavFile({ rate, data: new Uint8Array(1000) })),
  flac(rate) {
    const file = Buffer.from(fixture('tone.flac'));
    file.writeUInt32BE(((rate << 12) | (file.readUInt32BE(18) & 0xfff)) >>> 0, 18);
    return file;
  },
  'flac behind a tag': (rate) =>
    Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x04tags', 'latin1'), DECLARING['flac']!(rate)]),
  caf(rate) {
    const file = Buffer.alloc(60);
    file.write('caff\0\x01\0\0desc\0\0\0\0\0\0\0\x20', 'latin1');
    file.writeDoubleBE(rate, 20);
    return file;
  },
  aiff(rate) {
    const file = Buffer.alloc(60);
    file.write('FORM\0\0\0\x34AIFFNOTE\0\0\0\x03abc\0COMM\0\0\0\x12', 'latin1');
    const exponent = Math.floor(Math.log2(rate));
    file.writeUInt16BE(16_383 + exponent, 40);
    file.writeBigUInt64BE(BigInt(rate) << BigInt(63 - exponent), 42);
    return file;
  },
  au(rate) {
    const file = Buffer.alloc(60);
    file.write('.snd');
    file.writeUInt32BE(rate, 16);
    return file;
  },
  w64(rate) {
    const file = Buffer.alloc(80);
    file.write('riff\x2e\x91\xcf\x11', 'latin1');
    file.writeUInt32LE(rate, 68);
    return file;
  },
  'Vorbis in Ogg'(rate) {
    const file = oggPage('\x01vorbis');
    file.writeUInt32LE(rate, 40);
    return file;
  },
  'FLAC in Ogg'(rate) {
    const file = oggPage('\x7fFLAC');
    file.writeUInt32BE((rate << 12) >>> 0, 55);
    return file;
  },
};

/** A first page whose packet begins with `tag`. */
function oggPage(tag: string): Buffer {
  const file = Buffer.alloc(80);
  file.write('OggS', 'latin1');
  file.write(tag, 28, 'latin1');
  return file;
}

t.test('a rate cannot hide behind other chunks', async (t) => {
  const wav = Buffer.from(wavFile({ rate: 1, data: new Uint8Array(1000) }));
  const behind = (chunks: number): Buffer =>
    Buffer.concat([
      wav.subarray(0, 12),
      ...Array<Buffer>(chunks).fill(Buffer.from('JUNK\0\0\0\0', 'latin1')),
      wav.subarray(12),
    ]);
  for (const chunks of [1, 31, 32, 1000])
    throwsExactly(t, () => check(behind(chunks)), { code: 'audio_unreadable' }, `${chunks} chunks`);
});

t.test('a file that declares a rate which no audio has is refused', async (t) => {
  for (const [name, file] of Object.entries(DECLARING)) {
    for (const rate of [1, 999, 1_000_001]) {
      const message = `The audio file says that its sample rate is ${rate} Hz; it must be 1000 to 1000000 Hz`;
      throwsExactly(
        t,
        () => check(file(rate)),
        { code: 'audio_unreadable', message },
        `${name} at ${rate} Hz`,
      );
    }
    for (const rate of [1000, 44_100, 1_000_000])
      t.doesNotThrow(() => check(file(rate)), `${name} at ${rate} Hz`);
  }
});
