/** The table of audio formats: rates, bitrates, names (docs/contract/compatibility.md, rules 8 to 10). */
import t from '../../fixtures/tap.js';
import { type AudioFormat } from '../../../contracts/audio.js';
import {
  FORMATS,
  isRefusedFormat,
  refusedFormat,
  resolveOutput,
  snapMp3Bitrate,
} from '../../../codecs/formats.js';
import { exactly, throwsExactly } from '../../fixtures/exactly.js';

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
      if (RATES[format].includes(sampleRate)) exactly(t, resolve(), { format, sampleRate });
      else throwsExactly(t, resolve, refused, `${format} at ${sampleRate}`);
    }
    t.equal(resolveOutput({ format }).sampleRate, DEFAULT_RATES[format]);
    t.equal(FORMATS[format].contentType, CONTENT_TYPES[format]);
  }
  t.end();
});

t.test('a refused rate names the format and what it takes, and the field as the client spelled it', (t) => {
  throwsExactly(t, () => resolveOutput({ format: 'mp3', sampleRate: 22050 }, { sampleRate: 'sample_rate' }), {
    message: 'Invalid sample rate 22050 for format mp3. Supported: 32000, 44100',
    param: 'sample_rate',
  });
  t.end();
});

t.test('a refused bitrate names what is supported, and the field as the client spelled it', async (t) => {
  const fields = { mp3Bitrate: 'mp3_bitrate', opusBitrate: 'opus_bitrate' };
  throwsExactly(t, () => resolveOutput({ format: 'mp3', mp3Bitrate: 96 }, fields), {
    message: 'Invalid mp3 bitrate 96. Supported: 64, 128, 192',
    param: 'mp3_bitrate',
  });
  throwsExactly(t, () => resolveOutput({ format: 'opus', opusBitrate: 96 }, fields), {
    message: 'Invalid opus bitrate 96. Supported: -1000, 24000, 32000, 48000, 64000',
    param: 'opus_bitrate',
  });
  throwsExactly(t, () => snapMp3Bitrate(320, 'bitrate'), {
    message: 'Invalid mp3 bitrate 320. Supported: at most 192',
    param: 'bitrate',
  });
  throwsExactly(t, () => snapMp3Bitrate(0), { message: 'Invalid mp3 bitrate 0. Supported: at most 192' });
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
  for (const asked of [193, 320, 0, -64, NaN])
    throwsExactly(t, () => snapMp3Bitrate(asked), refused, String(asked));
  t.end();
});

t.test('an exact MP3 tier is taken as it is and anything else refused', (t) => {
  for (const mp3Bitrate of [64, 128, 192])
    exactly(t, resolveOutput({ format: 'mp3', mp3Bitrate }), { mp3Bitrate });
  for (const mp3Bitrate of [32, 63, 96, 193, 128_000]) {
    throwsExactly(t, () => resolveOutput({ format: 'mp3', mp3Bitrate }), refused, String(mp3Bitrate));
  }
  exactly(t, resolveOutput({ format: 'mp3' }), { mp3Bitrate: 128 });
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
  throwsExactly(t, () => resolveOutput({ format: 'opus', opusBitrate: 96_000 }), refused);
  t.end();
});

t.test('rule 10: mu-law and A-law names are refused in any spelling', (t) => {
  for (const name of ['ulaw_8000', 'ULAW', 'alaw_16000', 'audio/pcmu', 'audio/PCMA', 'g711_ulaw']) {
    t.ok(isRefusedFormat(name), name);
    t.notOk(Object.hasOwn(FORMATS, name), name);
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
