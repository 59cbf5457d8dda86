/**
 * Implements the `Encode` port (contracts/ports/speech/codec.ts) in the gateway. PCM and WAV at the engine's own rate and speed
 * pass through, without a copy if the level is unchanged; everything else is a job of the `encode` child.
 * Invariant: nothing is sent before the first audio exists, so that an earlier failure is reported as an error.
 */
import { bytesOf, type LevelOptions } from '../../contracts/audio.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Encode } from '../../contracts/ports/speech/codec.js';
import { type JobOwner, type JobRunner, NOBODY } from '../../contracts/ports/jobs.js';
import { changesLevel, Level } from '../gain.js';
import { wavHeader } from '../wav.js';
import type { EncodeArgs } from './jobs.js';

/** Largest piece sent to the child in one frame: 0.7 s at 44.1 kHz. */
const PIECE_SAMPLES = 32 * 1024;

/** An encoder that runs its jobs on `runner`. */
export function createEncode(runner: JobRunner): Encode {
  return (pcm, rate, output, signal, { speed = 1, level: asked, owner = NOBODY } = {}) => {
    const level = asked && changesLevel(asked) ? asked : undefined;
    const args = { rate, output, speed, ...(level && { level }) };
    const audio = passes(args)
      ? passThrough(pcm, signal, level)
      : encodeInChild(runner, pcm, args, { owner, signal });
    return output.format === 'wav' ? withWavHeader(audio, output.sampleRate) : audio;
  };
}

const passes = ({ rate, output: { format, sampleRate }, speed }: EncodeArgs): boolean =>
  speed === 1 && rate === sampleRate && (format === 'pcm' || format === 'wav');

async function* passThrough(
  pcm: AsyncIterable<Int16Array>,
  signal: AbortSignal,
  options: LevelOptions | undefined,
): AsyncGenerator<Uint8Array> {
  const level = options && new Level(options);
  for await (const samples of pcm) {
    signal.throwIfAborted();
    if (samples.length > 0) yield bytesOf(level ? level.apply(samples) : samples);
  }
}

async function* encodeInChild(
  runner: JobRunner,
  pcm: AsyncIterable<Int16Array>,
  args: EncodeArgs,
  options: { readonly owner: JobOwner; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  for await (const bytes of runner.runJob('encode', args, { input: pieces(pcm), ...options })) {
    if (!(bytes instanceof Uint8Array)) throw new ServiceError('engine_failed');
    yield bytes;
  }
}

async function* pieces(pcm: AsyncIterable<Int16Array>): AsyncGenerator<Uint8Array> {
  for await (const samples of pcm) {
    for (let start = 0; start < samples.length; start += PIECE_SAMPLES) {
      yield bytesOf(samples.subarray(start, start + PIECE_SAMPLES));
    }
  }
}

async function* withWavHeader(audio: AsyncIterable<Uint8Array>, rate: number): AsyncGenerator<Uint8Array> {
  let headed = false;
  for await (const bytes of audio) {
    if (!headed) yield wavHeader(rate);
    headed = true;
    yield bytes;
  }
  if (!headed) yield wavHeader(rate);
}
