/**
 * Headerless PCM, sent by a client in pieces or read from a file, as the pipeline takes it (contracts/ports/speech/speech.ts
 * `RawAudio`). Pieces may have any length and end inside a sample; an odd last byte is left out.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { plainWav } from '../codecs/decode/plain-wav.js';
import { BYTES_PER_SAMPLE, samplesOf } from '../contracts/audio.js';
import { ServiceError } from '../contracts/errors.js';
import { LIMITS } from '../contracts/limits.js';
import type { RawAudio } from '../contracts/ports/speech/speech.js';

/** Bytes per message: two seconds at 16 kHz, so that the short commits of many sockets take few messages. */
export const BLOCK_BYTES = 64 * 1024;

const { min: LEAST_RATE, max: MOST_RATE } = LIMITS.transcription.rawSampleRate;

/** Whether audio of that rate, in Hz, is accepted. */
export const isTaken = (rate: number): boolean =>
  Number.isInteger(rate) && rate >= LEAST_RATE && rate <= MOST_RATE;

/** The PCM of an uploaded file that needs no decoder; undefined for any other file. */
export function rawAudioIn(file: Uint8Array): RawAudio | undefined {
  const wav = plainWav(file);
  return wav && isTaken(wav.sampleRate) ? { chunks: [wav.pcm], sampleRate: wav.sampleRate } : undefined;
}

const bytesIn = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Length of the audio in seconds. Errors: `audio_too_long`, `unsupported_format` for a rate that is not accepted. */
export const secondsOf = ({ chunks, sampleRate }: RawAudio): number => secondsIn(bytesIn(chunks), sampleRate);

/** The same of so many bytes. */
export function secondsIn(bytes: number, sampleRate: number): number {
  if (!isTaken(sampleRate)) throw new ServiceError('unsupported_format');
  const seconds = Math.floor(bytes / BYTES_PER_SAMPLE) / sampleRate;
  if (seconds * 1000 > LIMITS.transcription.decodedMs) throw new ServiceError('audio_too_long');
  return seconds;
}

/** The same bytes in blocks of whole samples, each of BLOCK_BYTES at most. */
function* blocksOf(chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  let left = bytesIn(chunks);
  left -= left % BYTES_PER_SAMPLE;
  const empty = (): Buffer => Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, left));
  let block = empty();
  let filled = 0;
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength && block.length > 0;) {
      const part = chunk.subarray(at, at + block.length - filled);
      block.set(part, filled);
      filled += part.byteLength;
      at += part.byteLength;
      if (filled < block.length) continue;
      yield block;
      left -= filled;
      block = empty();
      filled = 0;
    }
  }
}

/** Samples of the audio at its own rate; other work may run between two blocks. */
export async function* samplesOfRaw({ chunks }: Pick<RawAudio, 'chunks'>): AsyncGenerator<Int16Array> {
  let first = true;
  for (const block of blocksOf(chunks)) {
    if (!first) await turn();
    first = false;
    yield samplesOf(block);
  }
}
