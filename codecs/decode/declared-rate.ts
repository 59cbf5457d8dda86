/**
 * Checks the sample rate that a file declares, in containers that can declare any number. Reads the file's first bytes, before
 * a process is started: decoders believe a rate of 1 Hz, and make 16,000 samples out of each.
 */
import { ServiceError } from '../../contracts/errors.js';
import { DECLARED_RATE } from './limits.js';
import { type Container, id3Length } from './sniff.js';

const HEAD_BYTES = 8;
const FIRST_CHUNK = 12;
const MOST_CHUNKS = 32;

/** Offset of the content of the chunk `tag` in a RIFF or IFF file; undefined if it is not among the first MOST_CHUNKS. */
function contentOf(view: DataView, tag: string, littleEndian: boolean): number | undefined {
  let at = FIRST_CHUNK;
  for (let count = 0; count < MOST_CHUNKS; count += 1) {
    if (Buffer.from(view.buffer, view.byteOffset + at, 4).toString('latin1') === tag) return at + HEAD_BYTES;
    const size = view.getUint32(at + 4, littleEndian);
    at += HEAD_BYTES + size + (size % 2);
  }
  return undefined;
}

/** An 80-bit extended float, without its sign: 15 bits of exponent, then the mantissa as an integer of 64 bits. */
const extended = (view: DataView, at: number): number =>
  Number(view.getBigUint64(at + 2)) * 2 ** ((view.getUint16(at) & 0x7fff) - 16_383 - 63);

/** Readers of the rate in Hz. They throw RangeError if the file ends before it. */
const RATES: Readonly<Partial<Record<Container, (view: DataView) => number | undefined>>> = {
  wav(view) {
    const format = contentOf(view, 'fmt ', true);
    return format === undefined ? undefined : view.getUint32(format + 4, true);
  },
  aiff(view) {
    const common = contentOf(view, 'COMM', false);
    return common === undefined ? undefined : extended(view, common + 8);
  },
  /** The rate is the first field of the audio description, which is the first chunk. */
  caf: (view) => view.getFloat64(20),
  /** The rate is 20 bits of the stream information, which is the first block. */
  flac: (view) => view.getUint32(18) >>> 12,
};

function declaredRate(file: Uint8Array, container: Container): number | undefined {
  const { buffer, byteOffset, byteLength } = file.subarray(id3Length(file));
  try {
    return RATES[container]?.(new DataView(buffer, byteOffset, byteLength));
  } catch {
    return undefined;
  }
}

/** Refuses a file whose declared rate is outside of DECLARED_RATE; one without a rate is left to the decoder. Errors: `audio_unreadable`. */
export function checkDeclaredRate(file: Uint8Array, container: Container): void {
  const rate = declaredRate(file, container);
  const { min, max } = DECLARED_RATE;
  if (rate === undefined || (rate >= min && rate <= max)) return;
  const message = `The audio file says that its sample rate is ${rate} Hz; it must be ${min} to ${max} Hz`;
  throw new ServiceError('audio_unreadable', { message });
}
