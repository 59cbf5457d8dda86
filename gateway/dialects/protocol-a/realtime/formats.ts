/**
 * Audio formats of a realtime session in the clients' spelling (docs/contract/decisions.md "Protocol A"): objects with a
 * type and a rate, or bare strings.
 */
import type { WireFormat } from '../../../../actors/realtime-settings.js';
import { FORMATS, isRefusedFormat, refusedFormat } from '../../../../codecs/formats.js';
import type { AudioFormat } from '../../../../contracts/audio.js';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import { Fault } from './faults.js';

export type { WireFormat };

const PREFIX = 'audio/';
const NAMES: readonly AudioFormat[] = ['pcm', 'wav', 'mp3', 'opus'];

/** Rates in Hz if none is given; only that of raw audio differs from the other endpoints. */
const DEFAULT_RATES: Readonly<Record<AudioFormat, number>> = {
  pcm: 24_000,
  wav: FORMATS.wav.defaultRate,
  mp3: FORMATS.mp3.defaultRate,
  opus: FORMATS.opus.defaultRate,
};

export const DEFAULT_FORMAT: WireFormat = { format: 'pcm', sampleRate: DEFAULT_RATES.pcm };

const unsupported = (message: string, param: string): Fault =>
  new Fault('unsupported_audio_format', message, param);

/** The old name of raw audio, from before formats were objects: 24 kHz, also the default here. */
const OLD_PCM = 'pcm16';

function formatOf(name: unknown, param: string): AudioFormat {
  const bare = typeof name === 'string' && name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  const format = NAMES.find((known) => known === bare);
  if (format) return format;
  if (bare === OLD_PCM) return 'pcm';
  const refused = typeof name === 'string' && isRefusedFormat(name);
  throw unsupported(
    refused
      ? refusedFormat(`the format to {"type": "${PREFIX}pcm", "rate": 8000}`)
      : `The format must be one of ${NAMES.map((known) => PREFIX + known).join(', ')}`,
    param,
  );
}

/** Reads a format; without a rate it gets its default rate. Errors: `Fault`. */
export function readFormat(value: unknown, param: string): WireFormat {
  const { type, rate } = isPlainObject(value) ? value : { type: value, rate: undefined };
  const format = formatOf(type, isPlainObject(value) ? `${param}.type` : param);
  const { rates } = FORMATS[format];
  const sampleRate = rates.find((known) => known === (rate ?? DEFAULT_RATES[format]));
  if (sampleRate !== undefined) return { format, sampleRate };
  throw unsupported(`The rate of ${PREFIX}${format} must be one of ${rates.join(', ')}`, `${param}.rate`);
}

export const showFormat = ({ format, sampleRate }: WireFormat): object => ({
  type: PREFIX + format,
  rate: sampleRate,
});
