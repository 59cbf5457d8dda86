/**
 * The placeholder header that every WAV response begins with (rule 11): RIFF size 4294967076, `data` size 4294967040,
 * since it is sent before the length is known; readers take the duration from the byte count.
 */
import { BYTES_PER_SAMPLE } from '../contracts/audio.js';

export const WAV_HEADER_BYTES = 44;
export const WAV_RIFF_SIZE = 4_294_967_076;
export const WAV_DATA_SIZE = 4_294_967_040;

const FORMAT_CHUNK_BYTES = 16;
const FORMAT_PCM = 1;

/** The 44-byte header of 16-bit PCM at `rate` Hz. */
export function wavHeader(rate: number, channels = 1): Uint8Array {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(WAV_RIFF_SIZE, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(FORMAT_CHUNK_BYTES, 16);
  header.writeUInt16LE(FORMAT_PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(channels * BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(WAV_DATA_SIZE, 40);
  return header;
}
