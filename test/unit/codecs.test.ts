/** The formats table, the WAV header, sniffing, gain, and audio that the gateway passes on unencoded. */
import t from 'tap';
import { type AudioFormat, bytesOf, joinSamples, type LevelOptions } from '../../contracts/audio.js';
import type { JobRunner } from '../../contracts/ports/jobs.js';
import { createEncode } from '../../codecs/encode/encoder.js';
import {
  FORMATS,
  isAudioFormat,
  isRefusedFormat,
  refusedFormat,
  resolveOutput,
  snapMp3Bitrate,
} from '../../codecs/formats.js';
import { changesLevel, Level } from '../../codecs/gain.js';
import { headIn } from '../../codecs/decode/file-head.js';
import { sniff } from '../../codecs/decode/sniff.js';
import { wavHeader } from '../../codecs/wav.js';
import { chunked, collect, fixture, peakOf, rmsOf, tone, TONE_FILES } from '../fixtures/codecs-audio.js';

/** Rule 8, written out a second time on purpose. */
const RATES: Record<AudioFormat, readonly number[]> = {
  mp3: [32000, 44100],
  wav: [8000, 16000, 24000, 32000, 44100],
  pcm: [8000, 16000, 24000, 32000, 44100],
  opus: [48000],
};
const DEFAULT_RATES: Record<AudioFormat, number> = { mp3: 44100, wav: 44100, pcm: 44100, opus: 48000 };
const CONTENT_TYPES: Record<AudioFormat, string> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  opus: 'audio/ogg',
};
const TRIED = [0, 1, 7999, 8000, 8001, 11025, 12000, 15999, 16000, 16001, 22050, 23999, 24000, 24001];
const TRIED_HIGH = [31999, 32000, 32001, 44099, 44100, 44101, 47999, 48000, 48001, 96000, -16000, NaN];

const refused = { name: 'ServiceError', code: 'unsupported_format', status: 400 };

t.test('rule 8: a format takes its own rates, and none beside them', (t) => {
  for (const format of Object.keys(RATES) as AudioFormat[]) {
    for (const sampleRate of [...TRIED, ...TRIED_HIGH]) {
      const resolve = () => resolveOutput({ format, sampleRate });
      if (RATES[format].includes(sampleRate)) t.match(resolve(), { format, sampleRate });
      else t.throws(resolve, refused, `${format} at ${sampleRate}`);
    }
    t.equal(resolveOutput({ format }).sampleRate, DEFAULT_RATES[format]);
    t.equal(FORMATS[format].contentType, CONTENT_TYPES[format]);
    t.ok(isAudioFormat(format), format);
  }
  t.end();
});

t.test('a refused rate names the format and what it takes, and the field as the client spelled it', (t) => {
  t.throws(() => resolveOutput({ format: 'mp3', sampleRate: 22050 }, { sampleRate: 'sample_rate' }), {
    message: 'Invalid sample rate 22050 for format mp3. Supported: 32000, 44100',
    param: 'sample_rate',
  });
  t.end();
});

t.test('a refused bitrate names what is supported, and the field as the client spelled it', async (t) => {
  const fields = { mp3Bitrate: 'mp3_bitrate', opusBitrate: 'opus_bitrate' };
  t.throws(() => resolveOutput({ format: 'mp3', mp3Bitrate: 96 }, fields), {
    message: 'Invalid mp3 bitrate 96. Supported: 64, 128, 192',
    param: 'mp3_bitrate',
  });
  t.throws(() => resolveOutput({ format: 'opus', opusBitrate: 96 }, fields), {
    message: 'Invalid opus bitrate 96. Supported: -1000, 24000, 32000, 48000, 64000',
    param: 'opus_bitrate',
  });
  t.throws(() => snapMp3Bitrate(320, 'bitrate'), {
    message: 'Invalid mp3 bitrate 320. Supported: at most 192',
    param: 'bitrate',
  });
  t.throws(() => snapMp3Bitrate(0), { message: 'Invalid mp3 bitrate 0. Supported: at most 192' });
});

t.test('a bitrate is looked at for its own format only', async (t) => {
  const bitrates = { mp3Bitrate: 96, opusBitrate: 96 };
  t.strictSame(resolveOutput({ format: 'wav', ...bitrates }), { format: 'wav', sampleRate: 44_100 });
  t.strictSame(resolveOutput({ format: 'pcm', ...bitrates }), { format: 'pcm', sampleRate: 44_100 });
  t.strictSame(resolveOutput({ ...bitrates, format: 'opus', opusBitrate: -1000 }), {
    format: 'opus',
    sampleRate: 48_000,
  });
});

t.test('rule 9: MP3 bitrates snap up to a tier, and above 192 there is none', (t) => {
  const snapped = [
    [1, 64],
    [63, 64],
    [64, 64],
    [65, 128],
    [96, 128],
    [128, 128],
    [129, 192],
    [192, 192],
  ] as const;
  for (const [asked, tier] of snapped) t.equal(snapMp3Bitrate(asked), tier);
  for (const asked of [193, 320, 0, -64, NaN]) t.throws(() => snapMp3Bitrate(asked), refused, String(asked));
  t.end();
});

t.test('an exact MP3 tier is taken as it is and anything else refused', (t) => {
  for (const mp3Bitrate of [64, 128, 192])
    t.match(resolveOutput({ format: 'mp3', mp3Bitrate }), { mp3Bitrate });
  for (const mp3Bitrate of [32, 63, 96, 193, 128_000]) {
    t.throws(() => resolveOutput({ format: 'mp3', mp3Bitrate }), refused, String(mp3Bitrate));
  }
  t.match(resolveOutput({ format: 'mp3' }), { mp3Bitrate: 128 });
  t.notHas(resolveOutput({ format: 'wav', mp3Bitrate: 32 }), { mp3Bitrate: 32 }, 'looked at for MP3 only');
  t.end();
});

t.test('opus_bitrate: -1000 is automatic, and kbit/s mean the same as bit/s', (t) => {
  t.notOk('opusBitrate' in resolveOutput({ format: 'opus', opusBitrate: -1000 }));
  t.notOk('opusBitrate' in resolveOutput({ format: 'opus' }));
  for (const opusBitrate of [24, 32, 48, 64, 24_000, 32_000, 48_000, 64_000]) {
    const bps = opusBitrate < 1000 ? opusBitrate * 1000 : opusBitrate;
    t.equal(resolveOutput({ format: 'opus', opusBitrate }).opusBitrate, bps);
  }
  t.throws(() => resolveOutput({ format: 'opus', opusBitrate: 96_000 }), refused);
  t.end();
});

t.test('rule 10: mu-law and A-law names are refused in any spelling', (t) => {
  for (const name of ['ulaw_8000', 'ULAW', 'alaw_16000', 'audio/pcmu', 'audio/PCMA', 'g711_ulaw']) {
    t.ok(isRefusedFormat(name), name);
    t.notOk(isAudioFormat(name), name);
  }
  for (const name of ['alaw', 'mulaw', 'g711_alaw', 'pcmu', 'pcma_8000', 'audio/pcma_8000'])
    t.ok(isRefusedFormat(name), name);
  t.equal(
    refusedFormat('`format` to `pcm`'),
    'Mu-law and A-law are not supported; set `format` to `pcm` and convert it',
  );
  for (const name of ['pcm', 'mp3_44100_128', 'audio/pcm', 'lawful', 'ulaws', 'x_ulaw', ''])
    t.notOk(isRefusedFormat(name), name);
  t.end();
});

t.test('rule 11: the WAV header is 44 bytes with placeholder sizes', (t) => {
  const header = Buffer.from(wavHeader(24_000));
  t.equal(header.length, 44);
  t.equal(
    header.toString('hex'),
    '52494646' +
      '24ffffff' +
      '57415645' +
      '666d7420' +
      '10000000' +
      '0100' +
      '0100' +
      'c05d0000' +
      '80bb0000' +
      '0200' +
      '1000' +
      '64617461' +
      '00ffffff',
  );
  t.equal(header.readUInt32LE(4), 4294967076);
  t.equal(header.readUInt32LE(40), 4294967040);
  t.end();
});

t.test('containers are known by their bytes', (t) => {
  const expected = ['wav', 'mp3', 'mp4', 'aac', 'ogg', 'ogg', 'webm', 'flac'];
  t.same(
    TONE_FILES.map((name) => sniffed(fixture(name))),
    expected,
  );
  const id3 = Uint8Array.from([...Buffer.from('ID3'), 4, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0]);
  t.equal(sniffed(Buffer.concat([id3, fixture('tone.mp3')])), 'mp3', 'ID3 before MP3');
  t.equal(sniffed(Buffer.concat([id3, fixture('tone.flac')])), 'flac', 'ID3 before FLAC');
  t.equal(sniffed(Buffer.concat([id3, fixture('tone.aac')])), 'aac', 'ID3 before ADTS');
  const cut = fixture('tone.mp3').subarray(1000);
  t.equal(sniffed(cut), 'mp3', 'an MP3 from the middle of a frame on');
  t.equal(sniffed(Buffer.concat([Buffer.alloc(60_000), cut])), 'mp3', 'an MP3 behind zeros');
  t.equal(sniffed(Buffer.concat([Buffer.alloc(70_000), cut])), undefined, 'too many zeros');
  t.end();
});

const sniffed = (file: Uint8Array): string | undefined => sniff(headIn(file));

const STRANGERS: Record<string, string | Uint8Array> = {
  empty: '',
  'one byte': '\xff',
  text: 'hello, this is not audio at all',
  'HTML page': '<!doctype html><html></html>',
  'HLS playlist': '#EXTM3U\n#EXT-X-TARGETDURATION:10\nhttp://169.254.169.254/latest\n',
  'concat script': "ffconcat version 1.0\nfile '/etc/passwd'\n",
  'PLS playlist': '[playlist]\nFile1=http://localhost/\n',
  'DASH manifest': '<?xml version="1.0"?><MPD></MPD>',
  SDP: 'v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\n',
  PNG: '\x89PNG\r\n\x1a\n',
  JPEG: '\xff\xd8\xff\xe0\x00\x10JFIF',
  ZIP: 'PK\x03\x04',
  AVI: 'RIFF\x00\x00\x00\x00AVI LIST',
  'ID3 tag alone': 'ID3\x04\x00\x00\x00\x00\x00\x00',
  'ID3 tag longer than the file': 'ID3\x04\x00\x00\x7f\x7f\x7f\x7fabc',
  'all ones': new Uint8Array(64).fill(0xff),
  'headers of frames that do not follow one another': Buffer.from(
    '00fffb90'.padEnd(800, '0').repeat(100),
    'hex',
  ),
};

for (const [name, bytes] of Object.entries(STRANGERS)) {
  t.test(`no container: ${name}`, (t) => {
    t.equal(sniffed(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes), undefined);
    t.end();
  });
}

const never: JobRunner = {
  run() {
    throw new Error('a child was asked');
  },
};

t.test("PCM and WAV at the engine's own rate pass through without a child and without a copy", async (t) => {
  const samples = tone(16_000, 0.5);
  const signal = new AbortController().signal;
  const encode = createEncode(never);
  const pcm = await collect(
    encode(chunked(samples, 1600), 16_000, { format: 'pcm', sampleRate: 16_000 }, signal),
  );
  t.same(Buffer.concat(pcm), Buffer.from(bytesOf(samples)));
  t.ok(pcm.every((chunk) => chunk.buffer === samples.buffer));
  const wav = await collect(
    encode(chunked(samples, 1600), 16_000, { format: 'wav', sampleRate: 16_000 }, signal),
  );
  t.same(Buffer.concat(wav), Buffer.concat([wavHeader(16_000), bytesOf(samples)]));
});

t.test(
  'a WAV header leaves only when there is audio, so that a failure before it stays an error',
  async (t) => {
    async function* broken(): AsyncGenerator<Int16Array> {
      yield* [];
      throw new Error('no voice');
    }
    const signal = new AbortController().signal;
    const wav = createEncode(never)(broken(), 16_000, { format: 'wav', sampleRate: 16_000 }, signal);
    await t.rejects(wav[Symbol.asyncIterator]().next(), { message: 'no voice' });
    const silent = createEncode(never)(
      chunked(new Int16Array(0), 1),
      8000,
      { format: 'wav', sampleRate: 8000 },
      signal,
    );
    t.same(
      Buffer.concat(await collect(silent)),
      Buffer.from(wavHeader(8000)),
      'no audio at all: the header alone',
    );
  },
);

t.test('pass-through stops when the caller has gone, and closes its source', async (t) => {
  let closed = false;
  async function* endless(): AsyncGenerator<Int16Array> {
    try {
      for (;;) yield new Int16Array(160);
    } finally {
      closed = true;
    }
  }
  const gone = new AbortController();
  const reading = createEncode(never)(endless(), 8000, { format: 'pcm', sampleRate: 8000 }, gone.signal);
  await t.rejects(
    async () => {
      for await (const _bytes of reading) gone.abort(new Error('gone'));
    },
    { message: 'gone' },
  );
  t.ok(closed);
});

async function levelled(
  samples: Int16Array,
  volume: number,
  normalizeLoudness: boolean,
): Promise<Int16Array> {
  const level = new Level({ volume, normalizeLoudness });
  const chunks = await collect(chunked(samples, 1600));
  return joinSamples(chunks.map((chunk) => level.apply(chunk)));
}

t.test('volume is in dB, keeps every sample, and never clips', async (t) => {
  const quiet = tone(16_000, 1, 440, 1000);
  const before = Int16Array.from(quiet);
  t.ok(Math.abs(peakOf(await levelled(quiet, 6, false)) - 1995) < 10, '+6 dB');
  t.ok(Math.abs(peakOf(await levelled(quiet, -20, false)) - 100) < 2, '-20 dB');
  t.same(quiet, before, 'the input is left alone');
  const loud = await levelled(tone(16_000, 1, 440, 20_000), 20, false);
  t.equal(loud.length, 16_000);
  t.ok(peakOf(loud) <= 32_400);
  const atCeiling = loud.filter((sample) => Math.abs(sample) > 32_300).length;
  t.ok(atCeiling < loud.length * 0.1, `a sine keeps its shape: ${atCeiling} samples at the ceiling`);
});

t.test('quiet and loud speech come out equally loud, and silence stays silence', async (t) => {
  const levels = await Promise.all(
    [2000, 6000, 16_000].map(async (amplitude) =>
      rmsOf(await levelled(tone(16_000, 2, 300, amplitude), 0, true)),
    ),
  );
  for (const level of levels) t.ok(Math.abs(20 * Math.log10(level / levels[0]!)) < 1, `${level}`);
  t.equal(peakOf(await levelled(new Int16Array(16_000), 0, true)), 0);
});

t.test('a sudden peak is not clipped by the control of loudness', async (t) => {
  const quiet = tone(16_000, 1, 300, 1000);
  const loud = tone(16_000, 1, 300, 32_767);
  const both = joinSamples([quiet, loud]);
  for (const volume of [0, 20]) {
    const peak = peakOf(await levelled(both, volume, true));
    t.ok(peak <= 32_400, `${volume} dB: ${peak}`);
  }
  const extreme = Int16Array.from({ length: 16_000 }, (_, index) => (index % 200 < 100 ? 32_767 : -32_768));
  const square = await levelled(extreme, 20, false);
  t.ok(
    square.every((sample, index) => Math.sign(sample) === Math.sign(extreme[index]!)),
    'nothing wraps around',
  );
});

t.test('PCM passes through at its level, and unchanged if there is nothing to change', async (t) => {
  const samples = tone(16_000, 0.5, 300, 1000);
  const signal = new AbortController().signal;
  const output = { format: 'pcm', sampleRate: 16_000 } as const;
  const passed = async (level: LevelOptions) =>
    collect(createEncode(never)(chunked(samples, 1600), 16_000, output, signal, { level }));
  const neutral = { volume: 0, normalizeLoudness: false };
  t.notOk(changesLevel(neutral));
  t.ok((await passed(neutral)).every((chunk) => chunk.buffer === samples.buffer));
  const louder = Buffer.concat(await passed({ volume: 6, normalizeLoudness: false }));
  t.same(louder, Buffer.from(bytesOf(await levelled(samples, 6, false))));
});
