/**
 * What a decoder process writes: a WAV stream of 16-bit PCM at 16 kHz with the recording's channels, since only the decoder knows
 * how many there are. Its sizes mean nothing: a pipe cannot be written twice.
 */
import { ServiceError } from '../../contracts/errors.js';
import { samplesOf } from '../../contracts/audio.js';
import { MOST_CHANNELS } from './limits.js';
import { mixDown } from './mix-down.js';

const FIRST_CHUNK = 12;
const HEAD_BYTES = 8;
/** More than any header that our decoders write. */
const MOST_HEADER_BYTES = 4096;

interface Header {
  readonly channels: number;
  /** Where the samples begin. */
  readonly from: number;
}

/** The header; undefined if it has not come whole. */
function headerIn(bytes: Buffer): Header | undefined {
  let channels = 0;
  for (let at = FIRST_CHUNK; at + HEAD_BYTES <= bytes.length;) {
    const tag = bytes.toString('latin1', at, at + 4);
    const content = at + HEAD_BYTES;
    if (tag === 'data') return { channels, from: content };
    if (tag === 'fmt ' && content + 4 <= bytes.length) channels = bytes.readUInt16LE(content + 2);
    at = content + bytes.readUInt32LE(at + 4);
  }
  return undefined;
}

/** The samples behind the header, in pieces of whole ones. */
async function* samplesBehind(first: Buffer, pieces: AsyncIterator<Buffer>): AsyncGenerator<Int16Array> {
  let bytes = first;
  for (;;) {
    const whole = bytes.length - (bytes.length % 2);
    if (whole > 0) yield samplesOf(bytes.subarray(0, whole));
    const step = await pieces.next();
    if (step.done === true) return;
    const odd = bytes.subarray(whole);
    bytes = odd.length === 0 ? step.value : Buffer.concat([odd, step.value]);
  }
}

/**
 * The recording as mono PCM; nothing if the stream ends before its header does.
 * Errors: `audio_unreadable` for more than MOST_CHANNELS channels, and for output that is no WAV.
 */
export async function* monoOf(output: AsyncIterable<Buffer>): AsyncGenerator<Int16Array> {
  const pieces = output[Symbol.asyncIterator]();
  try {
    let bytes: Buffer = Buffer.alloc(0);
    let header: Header | undefined;
    while (!header) {
      const step = await pieces.next();
      if (step.done === true) return;
      bytes = Buffer.concat([bytes, step.value]);
      header = headerIn(bytes);
      if (!header && bytes.length > MOST_HEADER_BYTES) throw new ServiceError('audio_unreadable');
    }
    const { channels, from } = header;
    if (channels < 1 || channels > MOST_CHANNELS) throw new ServiceError('audio_unreadable');
    yield* mixDown(samplesBehind(bytes.subarray(from), pieces), channels);
  } finally {
    await pieces.return?.();
  }
}
