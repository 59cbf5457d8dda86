/** The job of a `turns` child, which takes the last audio as PCM values and returns the probability that the turn ended. */
import { RECOGNITION_RATE, samplesOf } from '../../contracts/audio.js';
import { ServiceError } from '../../contracts/errors.js';
import type { JobContext, JobHandlers, JobValue } from '../../contracts/ports/jobs.js';
import { announced } from '../../processes/child/announce.js';
import type { SmartTurn } from './smart-turn.js';
import { SECONDS } from './window.js';

export const TURN_JOB = 'turn';
/** Bytes of PCM that are used. */
export const MOST_BYTES = SECONDS * RECOGNITION_RATE * 2;

/** The last `most` bytes, in their original chunks. */
export function lastOf(chunks: readonly Uint8Array[], most: number): readonly Uint8Array[] {
  const kept: Uint8Array[] = [];
  let left = most;
  for (let at = chunks.length - 1; at >= 0 && left > 0; at--) {
    const chunk = chunks[at]!;
    kept.unshift(chunk.subarray(Math.max(0, chunk.length - left)));
    left -= chunk.length;
  }
  return kept;
}

async function collected(input: AsyncIterable<JobValue>): Promise<Int16Array> {
  const chunks: Uint8Array[] = [];
  for await (const value of input) chunks.push(value as Uint8Array);
  return samplesOf(Buffer.concat(lastOf(chunks, MOST_BYTES)));
}

/** Handlers for `serveJobs`. The first job loads the model; a job without audio does only that. */
export function turnJobs(load: () => SmartTurn): JobHandlers {
  let model: SmartTurn | undefined;
  async function* turn(
    _args: null,
    input: AsyncIterable<JobValue>,
    { signal }: JobContext,
  ): AsyncGenerator<number> {
    const samples = await collected(input);
    try {
      model ??= await announced(load);
      if (samples.length > 0 && !signal.aborted) yield model(samples);
    } catch (error) {
      console.error(error);
      throw new ServiceError('engine_failed');
    }
  }
  return { [TURN_JOB]: turn };
}
