/**
 * The audio formats of a realtime session, as its clients name them (decisions.md "Protocol A"): objects with a
 * type and a rate, or bare strings.
 */
import { FORMATS, isRefusedFormat } from '../../../../codecs/formats.js';
import type { AudioFormat } from '../../../../contracts/audio.js';
import { Fault } from './faults.js';

export interface WireFormat {
  readonly format: AudioFormat;
  /** Hz */
  readonly sampleRate: number;
}

const PREFIX = 'audio/';
const NAMES: readonly AudioFormat[] = ['pcm', 'wav', 'mp3', 'opus'];

/** Hz, where the rate is not given; it differs from the other endpoints' for raw audio alone. */
const DEFAULT_RATES: Readonly<Record<AudioFormat, number>> = {
  pcm: 24_000,
  wav: FORMATS.wav.defaultRate,
  mp3: FORMATS.mp3.defaultRate,
  opus: FORMATS.opus.defaultRate,
};

export const DEFAULT_FORMAT: WireFormat = { format: 'pcm', sampleRate: DEFAULT_RATES.pcm };

const unsupported = (message: string, param: string): Fault =>
  new Fault('unsupported_audio_format', message, param);

function formatOf(name: unknown, param: string): AudioFormat {
  const bare = typeof name === 'string' && name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  const format = NAMES.find((known) => known === bare);
  if (format) return format;
  const refused = typeof name === 'string' && isRefusedFormat(name);
  throw unsupported(
    refused
      ? 'Mu-law and A-law are not supported'
      : `The format must be one of ${NAMES.map((known) => PREFIX + known).join(', ')}`,
    param,
  );
}

/** A format without a rate has its default one. Errors: `Fault`. */
export function readFormat(value: unknown, param: string): WireFormat {
  const { type, rate } = (typeof value === 'object' && value !== null ? value : { type: value }) as {
    readonly type?: unknown;
    readonly rate?: unknown;
  };
  const format = formatOf(type, `${param}.type`);
  const { rates } = FORMATS[format];
  const sampleRate = rates.find((known) => known === (rate ?? DEFAULT_RATES[format]));
  if (sampleRate !== undefined) return { format, sampleRate };
  throw unsupported(`The rate of ${PREFIX}${format} must be one of ${rates.join(', ')}`, `${param}.rate`);
}

export const showFormat = ({ format, sampleRate }: WireFormat): object => ({
  type: PREFIX + format,
  rate: sampleRate,
});
