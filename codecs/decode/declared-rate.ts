/**
 * Checks the sample rate that a file declares, in the containers of RATES; those that need a parser, such as Matroska and MP4, are only bounded
 * by the decoder's limits. Reads the file's first bytes, before
 * a process is started: decoders believe a rate of 1 Hz, and make 16,000 samples out of each.
 */
import { ServiceError } from '../../contracts/errors.js';
import { DECLARED_RATE } from './limits.js';
import type { FileHead } from './file-head.js';
import type { InputContainer } from './sniff.js';

const HEAD_BYTES = 8;
const FIRST_CHUNK = 12;
const MOST_CHUNKS = 32;

/** Throws RangeError if the file ends before. */
const textAt = (view: DataView, at: number, bytes: number): string =>
  Buffer.from(view.buffer, view.byteOffset + at, bytes).toString('latin1');

/** Offset of the content of the chunk `tag` in a RIFF or IFF file. Errors: `audio_unreadable` if more chunks than any encoder writes come before it. */
function contentOf(view: DataView, tag: string, littleEndian: boolean): number {
  let at = FIRST_CHUNK;
  for (let count = 0; count < MOST_CHUNKS; count += 1) {
    if (textAt(view, at, tag.length) === tag) return at + HEAD_BYTES;
    const size = view.getUint32(at + 4, littleEndian);
    at += HEAD_BYTES + size + (size % 2);
  }
  throw new ServiceError('audio_unreadable');
}

/** An 80-bit extended float, without its sign: 15 bits of exponent, then the mantissa as an integer of 64 bits. */
const extended = (view: DataView, at: number): number =>
  Number(view.getBigUint64(at + 2)) * 2 ** ((view.getUint16(at) & 0x7fff) - 16_383 - 63);

/** Readers of the rate in Hz. They throw RangeError if the file ends before it. */
const RATES: Readonly<Partial<Record<InputContainer, (view: DataView) => number | undefined>>> = {
  wav: (view) => view.getUint32(contentOf(view, 'fmt ', true) + 4, true),
  aiff: (view) => extended(view, contentOf(view, 'COMM', false) + 8),
  au: (view) => view.getUint32(16),
  /** The format is the first chunk, behind a head of 40 bytes and its own of 24. */
  w64: (view) => view.getUint32(68, true),
  /** The rate is the first field of the audio description, which is the first chunk. */
  caf: (view) => view.getFloat64(20),
  /** The rate is 20 bits of the stream information, which is the first block. */
  flac: (view) => view.getUint32(18) >>> 12,
  /** The first packet, which follows a page header of 28 bytes. Opus declares no rate that its decoder uses. */
  ogg(view) {
    if (textAt(view, 28, 7) === '\x01vorbis') return view.getUint32(40, true);
    return textAt(view, 28, 5) === '\x7fFLAC' ? view.getUint32(55) >>> 12 : undefined;
  },
};

function declaredRate({ bytes }: FileHead, container: InputContainer): number | undefined {
  const { buffer, byteOffset, byteLength } = bytes;
  try {
    return RATES[container]?.(new DataView(buffer, byteOffset, byteLength));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Refuses a file whose declared rate is outside of DECLARED_RATE; one without a rate is left to the decoder. Errors: `audio_unreadable`. */
export function checkDeclaredRate(head: FileHead, container: InputContainer): void {
  const rate = declaredRate(head, container);
  const { min, max } = DECLARED_RATE;
  if (rate === undefined || (rate >= min && rate <= max)) return;
  const message = `The audio file says that its sample rate is ${rate} Hz; it must be ${min} to ${max} Hz`;
  throw new ServiceError('audio_unreadable', { message });
}
