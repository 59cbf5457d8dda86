/** WAV files that need no decoder, and those that do (codecs/decode/plain-wav.ts). */
import t from '../../../fixtures/tap.js';
import { plainWav } from '../../../../codecs/decode/plain-wav.js';
import { wavHeader } from '../../../../codecs/wav.js';
import { rawAudioIn } from '../../../../engines/raw-audio.js';
import { seeded } from '../../../fixtures/random.js';

interface Format {
  readonly tag?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly bits?: number;
}

function chunk(tag: string, content: Buffer, size = content.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(tag, 'latin1');
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

function formatChunk({ tag = 1, channels = 1, rate = 16_000, bits = 16 }: Format = {}): Buffer {
  const content = Buffer.alloc(16);
  content.writeUInt16LE(tag, 0);
  content.writeUInt16LE(channels, 2);
  content.writeUInt32LE(rate, 4);
  content.writeUInt32LE((rate * channels * bits) / 8, 8);
  content.writeUInt16LE((channels * bits) / 8, 12);
  content.writeUInt16LE(bits, 14);
  return chunk('fmt ', content);
}

const riff = (...chunks: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(chunks);
  return Buffer.concat([chunk('RIFF', Buffer.from('WAVE'), content.length + 4).subarray(0, 12), content]);
};

const PCM = Buffer.from([1, 2, 3, 4, 5, 6]);
const DATA = chunk('data', PCM);

t.test('mono PCM of 16 bits is taken as it lies, whatever stands around it', async (t) => {
  const files: readonly [about: string, file: Buffer, rate: number, pcm: Buffer][] = [
    ['the least', riff(formatChunk(), DATA), 16_000, PCM],
    ['44.1 kHz', riff(formatChunk({ rate: 44_100 }), DATA), 44_100, PCM],
    ['a list before', riff(chunk('LIST', Buffer.from('INFOx')), formatChunk(), DATA), 16_000, PCM],
    ['a list behind', riff(formatChunk(), DATA, chunk('LIST', Buffer.from('INFO'))), 16_000, PCM],
    ['cut short', riff(formatChunk(), chunk('data', PCM, 600)), 16_000, PCM],
    ['streamed, as ours', Buffer.concat([wavHeader(24_000), PCM]), 24_000, PCM],
  ];
  for (const [about, file, sampleRate, pcm] of files) {
    const found = plainWav(file);
    t.equal(found?.sampleRate, sampleRate, about);
    t.same(Buffer.from(found?.pcm ?? []), pcm, about);
    t.equal(found?.pcm.buffer, file.buffer, 'it is not copied');
  }
});

t.test(
  'a length that is too small takes nothing from what came; a chunk behind the samples is no sound',
  async (t) => {
    const sound = Buffer.from(Array.from({ length: 40 }, (_, at) => 200 + at));
    const tooSmall = (declared: number): Buffer => chunk('data', sound, declared);
    const list = chunk('LIST', Buffer.from('INFOwhatever'));
    const files: readonly [about: string, file: Buffer, pcm: Buffer][] = [
      ['half', riff(formatChunk(), tooSmall(20)), sound],
      ['none', riff(formatChunk(), tooSmall(0)), sound],
      ['odd', riff(formatChunk(), tooSmall(21)), sound],
      ['all ones', riff(formatChunk(), tooSmall(0xffff_ffff)), sound],
      ['silence behind', riff(formatChunk(), DATA, Buffer.alloc(20)), Buffer.concat([PCM, Buffer.alloc(20)])],
      ['a list', riff(formatChunk(), DATA, list), PCM],
      ['a list that is cut short', riff(formatChunk(), DATA, list.subarray(0, 14)), PCM],
      ['an unknown chunk', riff(formatChunk(), DATA, chunk('abcd', Buffer.alloc(4))), PCM],
      [
        'a list behind padding',
        riff(formatChunk(), chunk('data', PCM.subarray(0, 5)), list),
        PCM.subarray(0, 5),
      ],
      ['too little for a chunk', riff(formatChunk(), DATA, Buffer.from([201, 202])), PCM],
    ];
    for (const [about, file, pcm] of files) t.same(Buffer.from(plainWav(file)?.pcm ?? []), pcm, about);
  },
);

t.test('every other file is left to the decoder', async (t) => {
  const files: readonly [about: string, file: Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['no WAV', Buffer.from('OggS and so on, for a while')],
    ['stereo', riff(formatChunk({ channels: 2 }), DATA)],
    ['24 bits', riff(formatChunk({ bits: 24 }), DATA)],
    ['floats', riff(formatChunk({ tag: 3, bits: 32 }), DATA)],
    ['µ-law', riff(formatChunk({ tag: 7, bits: 8 }), DATA)],
    ['extensible', riff(formatChunk({ tag: 0xfffe }), DATA)],
    ['no format', riff(DATA)],
    ['a format behind the data', riff(DATA, formatChunk())],
    ['a format that is too short', riff(chunk('fmt ', Buffer.alloc(14)), DATA)],
    ['a format that ends early', riff(chunk('fmt ', Buffer.alloc(8), 16))],
    ['no data', riff(formatChunk())],
    ['no samples', riff(formatChunk(), chunk('data', Buffer.alloc(0)))],
    ['half a sample', riff(formatChunk(), chunk('data', Buffer.from([1])))],
    ['more heads than any file has', riff(...Array.from({ length: 40 }, () => chunk('junk', Buffer.alloc(0))), formatChunk(), DATA)],
    ['RF64', Buffer.concat([Buffer.from('RF64'), riff(formatChunk(), DATA).subarray(4)])],
  ]; // oxfmt-ignore
  for (const [about, file] of files) t.equal(plainWav(file), undefined, about);
});

t.test('a rate that is not taken raw is left to the decoder', async (t) => {
  for (const rate of [0, 4000, 96_000])
    t.equal(rawAudioIn(riff(formatChunk({ rate }), DATA)), undefined, `${rate} Hz`);
  t.equal(rawAudioIn(riff(formatChunk({ rate: 8000 }), DATA))?.sampleRate, 8000);
});

t.test('bytes at random never throw, and what is found lies in the file', async (t) => {
  const random = seeded(7);
  const whole = riff(chunk('LIST', Buffer.from('INFO')), formatChunk(), DATA);
  let readable = 0;
  for (let round = 0; round < 5000; round += 1) {
    const file = Buffer.from(whole.subarray(0, Math.floor(random() * (whole.length + 1))));
    for (let flips = Math.floor(random() * 4); flips > 0 && file.length > 0; flips -= 1)
      file[Math.floor(random() * file.length)] = Math.floor(random() * 256);
    const found = plainWav(file);
    if (!found) continue;
    readable += 1;
    const from = found.pcm.byteOffset - file.byteOffset;
    if (from < 0 || from + found.pcm.length > file.length) t.fail(file.toString('hex'));
  }
  t.ok(readable > 100, `${readable} of them are read`);
});
