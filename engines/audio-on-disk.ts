/** PCM in an uploaded file on disk: read in blocks as the engine takes it. An odd last byte is left out. */
import { open } from 'node:fs/promises';
import { behind } from '../codecs/decode/chunks.js';
import { headOf } from '../codecs/decode/file-head.js';
import { holdsSample, wavSpan, withRest } from '../codecs/decode/plain-wav.js';
import { BYTES_PER_SAMPLE, samplesOf } from '../contracts/audio.js';
import { ServiceError } from '../contracts/errors.js';
import type { StoredFile } from '../contracts/ports/speech/codec.js';
import type { RawAudioFile } from '../contracts/ports/speech/speech.js';
import { BLOCK_BYTES, isTaken, secondsIn } from './raw-audio.js';

export interface PcmOnDisk {
  readonly path: string;
  /** Offsets of the samples in the file. */
  readonly from: number;
  readonly to: number;
  /** Hz. */
  readonly sampleRate: number;
}

export const wholePcm = ({ file, sampleRate }: RawAudioFile): PcmOnDisk => ({
  path: file.path,
  from: 0,
  to: file.size,
  sampleRate,
});

/** The PCM of a file that needs no decoder; undefined for any other file. */
export async function pcmIn(file: StoredFile): Promise<PcmOnDisk | undefined> {
  const { bytes, tag } = await headOf(file);
  const declared = tag === 0 ? wavSpan(bytes, file.size) : undefined;
  if (!declared || !isTaken(declared.sampleRate)) return undefined;
  const span = withRest(declared, await behind(file, declared.to), file.size);
  return holdsSample(span) ? { path: file.path, ...span } : undefined;
}

/** Errors: `audio_too_long`, `unsupported_format` for a rate that is not accepted. */
export const secondsOnDisk = ({ from, to, sampleRate }: PcmOnDisk): number =>
  secondsIn(to - from, sampleRate);

/** Errors: `audio_unreadable` if the file is shorter than it was. */
export async function* samplesOnDisk({ path, from, to }: PcmOnDisk): AsyncGenerator<Int16Array> {
  const handle = await open(path);
  try {
    const end = to - ((to - from) % BYTES_PER_SAMPLE);
    for (let at = from; at < end;) {
      const block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, end - at));
      const { bytesRead } = await handle.read(block, 0, block.length, at);
      if (bytesRead < block.length) throw new ServiceError('audio_unreadable');
      at += bytesRead;
      yield samplesOf(block);
    }
  } finally {
    await handle.close();
  }
}
