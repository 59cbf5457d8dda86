/**
 * The jobs of an `encode` child. `encode` takes PCM chunks and sends encoded bytes while they arrive.
 * Invariants: one turn of the event loop encodes at most about SLICE_SECONDS of audio, so that a child's
 * streams take turns; native memory is freed however the job ends.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  BYTES_PER_SAMPLE,
  bytesOf,
  type LevelOptions,
  type OutputFormat,
  samplesOf,
} from '../../contracts/audio.js';
import type { JobContext, JobHandlers, JobValue } from '../../contracts/ports/jobs.js';
import { Level } from '../gain.js';
import { openSink } from './sinks.js';

export interface EncodeArgs {
  /** Hz of the input */
  readonly rate: number;
  readonly output: OutputFormat;
  /** Tempo factor at unchanged pitch; default 1. */
  readonly speed?: number;
  /** Absent: loudness is not changed. */
  readonly level?: LevelOptions;
}

/** About a millisecond of MP3 encoding. */
const SLICE_SECONDS = 0.25;

export const encodeJobs: JobHandlers = { encode };

/** Input: 16-bit mono PCM as bytes, in chunks of whole samples. Output: encoded bytes; WAV without its header. */
async function* encode(
  { rate, output, speed = 1, level: options }: EncodeArgs,
  input: AsyncIterable<JobValue>,
  { signal }: JobContext,
): AsyncGenerator<Uint8Array> {
  const sliceBytes = Math.ceil(rate * SLICE_SECONDS * Math.min(1, speed)) * BYTES_PER_SAMPLE;
  const level = options && new Level(options);
  const sink = openSink(rate, output, speed);
  try {
    for await (const chunk of input) {
      for (const slice of slices(bytesOfChunk(chunk, level), sliceBytes)) {
        if (signal.aborted) return;
        const bytes = sink.push(slice);
        // After a yielded value the job server waits for a turn of the loop itself.
        if (bytes.length > 0) yield bytes;
        else await nextTurn();
      }
    }
    if (signal.aborted) return;
    const rest = sink.finish();
    if (rest.length > 0) yield rest;
  } finally {
    sink.free();
  }
}

/** The PCM of an input value, at its new level. */
function bytesOfChunk(chunk: JobValue, level: Level | undefined): Buffer {
  if (!(chunk instanceof Uint8Array)) throw new TypeError('encode takes PCM as bytes');
  const pcm = level ? bytesOf(level.apply(samplesOf(chunk))) : chunk;
  return Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}

function* slices(bytes: Buffer, size: number): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}
