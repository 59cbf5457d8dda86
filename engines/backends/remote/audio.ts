/** Audio of remote services: incoming bytes, raw or with a WAV header, to samples, and samples to a WAV file. */
import { BYTES_PER_SAMPLE, bytesOf, RECOGNITION_RATE, samplesOf } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';

export type RemoteFormat = 'pcm' | 'wav';

/** Most bytes before the samples: a header may hold other chunks. */
const MOST_HEADER_BYTES = 64 * 1024;
const PCM = 1;
const EXTENSIBLE = 0xfffe;

const unusable = (message: string): ServiceError => new ServiceError('provider_failed', { message });

function checkFormat(chunk: Buffer, rate: number): void {
  const [tag, channels, found, bits] = [
    chunk.readUInt16LE(0),
    chunk.readUInt16LE(2),
    chunk.readUInt32LE(4),
    chunk.readUInt16LE(14),
  ];
  if ((tag === PCM || tag === EXTENSIBLE) && channels === 1 && bits === 16 && found === rate) return;
  throw unusable(
    `The speech provider must answer 16-bit mono at ${rate} Hz, not ${bits}-bit, ${channels} channels, ${found} Hz`,
  );
}

/** Offset of the first sample of a WAV; undefined while the header is incomplete. */
function headerEnd(bytes: Buffer, rate: number): number | undefined {
  if (
    bytes.length >= 12 &&
    (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE')
  ) {
    throw unusable('The speech provider did not answer a WAV');
  }
  for (let at = 12; at + 8 <= bytes.length;) {
    const name = bytes.toString('latin1', at, at + 4);
    if (name === 'data') return at + 8;
    const size = bytes.readUInt32LE(at + 4);
    if (name === 'fmt ' && at + 24 <= bytes.length) checkFormat(bytes.subarray(at + 8), rate);
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** The samples of a WAV stream: the bytes behind its header. */
async function* withoutHeader(parts: AsyncIterable<Uint8Array>, rate: number): AsyncGenerator<Uint8Array> {
  let held: Buffer | undefined = Buffer.alloc(0);
  for await (const part of parts) {
    if (!held) {
      yield part;
      continue;
    }
    held = Buffer.concat([held, part]);
    const end = headerEnd(held, rate);
    if (end === undefined && held.length > MOST_HEADER_BYTES)
      throw unusable('The speech provider did not answer a WAV');
    if (end === undefined) continue;
    yield held.subarray(end);
    held = undefined;
  }
  if (held?.length) throw unusable('The speech provider did not answer a WAV');
}

/** Samples of 16-bit mono bytes, whose parts may end inside a sample. */
async function* samplesOfParts(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Int16Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const part of parts) {
    const bytes = rest.length === 0 ? part : Buffer.concat([rest, part]);
    rest = bytes.slice(bytes.length - (bytes.length % BYTES_PER_SAMPLE));
    const samples = samplesOf(bytes);
    if (samples.length > 0) yield samples;
  }
}

/** Errors: `provider_failed` if the audio has another format or rate. */
export const remoteSamples = (
  parts: AsyncIterable<Uint8Array>,
  format: RemoteFormat,
  rate: number,
): AsyncIterable<Int16Array> => samplesOfParts(format === 'wav' ? withoutHeader(parts, rate) : parts);

/** A WAV file of the samples. `rate`: Hz. */
export function wavFile(samples: Int16Array, rate = RECOGNITION_RATE): Buffer {
  const data = bytesOf(samples);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}
