/**
 * Names of `output_format` (docs/contract/protocol-b.md 1; rules 8 to 10): codec, rate in Hz, and a bitrate in
 * kbit/s. For MP3 the bitrate is raised to the next tier; for Opus it is ignored, since Opus chooses its own.
 */
import { isRefusedFormat, refusedFormat, resolveOutput, snapMp3Bitrate } from '../../../codecs/formats.js';
import type { AudioFormat, OutputFormat } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { NativeOptions } from '../../../contracts/schemas/native-options.js';

const PARAM = 'output_format';
const DEFAULT = 'mp3_44100_128';
const WITH_BITRATE = /^(mp3|opus)_([1-9]\d{3,5})(?:_([1-9]\d{0,3}|0))?$/;
const WITHOUT_BITRATE = /^(pcm|wav)_([1-9]\d{3,5})$/;

const unsupported = (message: string): ServiceError =>
  new ServiceError('unsupported_format', { message, param: PARAM });

interface Wanted {
  readonly format: AudioFormat;
  readonly sampleRate: number;
  /** kbit/s */
  readonly bitrate?: number;
}

function parse(name: string): Wanted {
  if (isRefusedFormat(name)) throw unsupported(refusedFormat(`${PARAM} to pcm_8000`));
  const [, format, rate, bitrate] = WITH_BITRATE.exec(name) ?? WITHOUT_BITRATE.exec(name) ?? [];
  if (format === undefined) throw unsupported(`Unknown ${PARAM} ${name.slice(0, 64)}`);
  return {
    format: format as AudioFormat,
    sampleRate: Number(rate),
    ...(bitrate === undefined ? {} : { bitrate: Number(bitrate) }),
  };
}

/**
 * The output format of a name, the default one if it is absent or empty; an MP3 bitrate in the native options wins
 * over the name's. Errors: `unsupported_format`.
 */
export function outputFormat(
  name: string | undefined,
  options: Pick<NativeOptions, 'mp3_bitrate'> = {},
): OutputFormat {
  const { format, sampleRate, bitrate } = parse(name || DEFAULT);
  const named = format === 'mp3' && bitrate !== undefined && options.mp3_bitrate === undefined;
  const mp3Bitrate = named ? snapMp3Bitrate(bitrate, PARAM) : options.mp3_bitrate;
  return resolveOutput({ format, sampleRate, mp3Bitrate }, { sampleRate: PARAM });
}
