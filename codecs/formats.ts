/**
 * The table of output formats (rules 8–11): sample rates, content types, and the format names that are always
 * refused. Data and pure functions; dialects map their own names onto it.
 * Invariant: the encoders accept every `OutputFormat` that `resolveOutput` returns.
 */
import {
  type AudioFormat,
  MP3_BITRATES,
  type Mp3Bitrate,
  OPUS_BITRATE_AUTOMATIC,
  OPUS_BITRATES,
  type OutputFormat,
} from '../contracts/audio.js';
import { ServiceError } from '../contracts/errors.js';

export interface FormatRow {
  /** Hz, ascending */
  readonly rates: readonly number[];
  readonly defaultRate: number;
  readonly contentType: string;
}

const PCM_RATES = [8000, 16_000, 24_000, 32_000, 44_100] as const;

export const FORMATS: Readonly<Record<AudioFormat, FormatRow>> = {
  mp3: { rates: [32_000, 44_100], defaultRate: 44_100, contentType: 'audio/mpeg' },
  wav: { rates: PCM_RATES, defaultRate: 44_100, contentType: 'audio/wav' },
  pcm: { rates: PCM_RATES, defaultRate: 44_100, contentType: 'audio/pcm' },
  opus: { rates: [48_000], defaultRate: 48_000, contentType: 'audio/ogg' },
};

export const DEFAULT_MP3_BITRATE: Mp3Bitrate = 128;

/** Names of mu-law (µ-law, G.711) and A-law, which are refused everywhere (rule 10), also with a suffix such as `_8000`. */
export const REFUSED_FORMATS = [
  'ulaw',
  'alaw',
  'mulaw',
  'g711_ulaw',
  'g711_alaw',
  'pcmu',
  'pcma',
  'audio/pcmu',
  'audio/pcma',
] as const;

/** The message of that refusal; `instead` is a supported setting, in the client's terms. */
export const refusedFormat = (instead: string): string =>
  `Mu-law and A-law are not supported; set ${instead} and convert it`;

/** Whether every dialect refuses the name, for example `ulaw_8000` or `audio/PCMU`. */
export function isRefusedFormat(name: string): boolean {
  const lower = name.toLowerCase();
  return REFUSED_FORMATS.some((refused) => lower === refused || lower.startsWith(`${refused}_`));
}

export interface OutputRequest {
  readonly format: AudioFormat;
  /** Hz; absent selects the format's default */
  readonly sampleRate?: number | undefined;
  /** kbit/s, an exact tier; only for MP3 */
  readonly mp3Bitrate?: number | undefined;
  /** bit/s or kbit/s, or `OPUS_BITRATE_AUTOMATIC`; only for Opus */
  readonly opusBitrate?: number | undefined;
}

/** The client's names of the fields, for `ServiceError.param`. */
export type OutputFields = Readonly<Partial<Record<Exclude<keyof OutputRequest, 'format'>, string>>>;

/**
 * The output format of a request, with defaults filled in. Errors: `unsupported_format` for a rate or a
 * bitrate outside the table, with the client's name of the field from `fields` as `param`.
 */
export function resolveOutput(request: OutputRequest, fields: OutputFields = {}): OutputFormat {
  const { format } = request;
  const sampleRate = checkRate(format, request.sampleRate, fields.sampleRate);
  if (format === 'mp3') {
    const mp3Bitrate = checkMp3Bitrate(request.mp3Bitrate ?? DEFAULT_MP3_BITRATE, fields.mp3Bitrate);
    return { format, sampleRate, mp3Bitrate };
  }
  if (format !== 'opus') return { format, sampleRate };
  const opusBitrate = checkOpusBitrate(request.opusBitrate ?? OPUS_BITRATE_AUTOMATIC, fields.opusBitrate);
  return opusBitrate === undefined ? { format, sampleRate } : { format, sampleRate, opusBitrate };
}

/**
 * MP3 bitrate tiers: the next tier at or above the bitrate in kbit/s (rule 9); `param` is the client's name of the field.
 * Errors: `unsupported_format` above the highest tier, and for anything but a positive number.
 */
export function snapMp3Bitrate(kbps: number, param?: string): Mp3Bitrate {
  const tier = kbps > 0 ? MP3_BITRATES.find((bitrate) => bitrate >= kbps) : undefined;
  if (tier === undefined) throw refusal('mp3 bitrate', kbps, `at most ${MP3_BITRATES.at(-1)}`, param);
  return tier;
}

function checkRate(format: AudioFormat, rate: number | undefined, param?: string): number {
  const { rates, defaultRate } = FORMATS[format];
  if (rate === undefined) return defaultRate;
  if (rates.includes(rate)) return rate;
  throw unsupported(
    `Invalid sample rate ${rate} for format ${format}. Supported: ${rates.join(', ')}`,
    param,
  );
}

function checkMp3Bitrate(kbps: number, param?: string): Mp3Bitrate {
  const tier = MP3_BITRATES.find((bitrate) => bitrate === kbps);
  if (tier === undefined) throw refusal('mp3 bitrate', kbps, MP3_BITRATES.join(', '), param);
  return tier;
}

/** `bitrate` in bit/s, or in kbit/s from older clients; undefined for automatic. */
function checkOpusBitrate(bitrate: number, param?: string): number | undefined {
  if (bitrate === OPUS_BITRATE_AUTOMATIC) return undefined;
  const known = OPUS_BITRATES.find((bps) => bps === bitrate || bps === bitrate * 1000);
  const supported = [OPUS_BITRATE_AUTOMATIC, ...OPUS_BITRATES].join(', ');
  if (known === undefined) throw refusal('opus bitrate', bitrate, supported, param);
  return known;
}

const refusal = (what: string, value: number, supported: string, param?: string): ServiceError =>
  unsupported(`Invalid ${what} ${value}. Supported: ${supported}`, param);

const unsupported = (message: string, param?: string): ServiceError =>
  new ServiceError('unsupported_format', param === undefined ? { message } : { message, param });
