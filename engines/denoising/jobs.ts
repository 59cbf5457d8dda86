/**
 * The job of a `denoise` child, which takes PCM at RECOGNITION_RATE and returns the same amount, with less noise. A stream
 * has a model of its own while it lasts, because a model remembers the audio before; free models are reused.
 */
import { bytesOf, samplesOf } from '../../contracts/audio.js';
import { ServiceError } from '../../contracts/errors.js';
import type { JobContext, JobHandlers, JobValue } from '../../contracts/ports/jobs.js';
import { announced } from '../../processes/child/announce.js';

export const DENOISE_JOB = 'denoise';

/** A model that processes one stream. */
export interface StreamDenoiser {
  /** The samples that are ready, which lag behind. */
  push(samples: Int16Array): Int16Array;
  /** The remaining samples. The next samples begin another stream. */
  finish(): Int16Array;
}

/** Keeps the output as long as the input: a model's last window may reach beyond the end. */
class Length {
  #left = 0;

  constructor(private readonly model: StreamDenoiser) {}

  push(samples: Int16Array): Int16Array {
    this.#left += samples.length;
    return this.#cut(this.model.push(samples));
  }

  /** The remaining samples, padded with silence if the model returns fewer than it took. */
  finish(): Int16Array {
    const rest = this.#cut(this.model.finish());
    const whole = new Int16Array(rest.length + this.#left);
    whole.set(rest);
    return whole;
  }

  #cut(samples: Int16Array): Int16Array {
    const cut = samples.subarray(0, this.#left);
    this.#left -= cut.length;
    return cut;
  }
}

/** Handlers for `serveJobs`. Models are loaded as streams need them. Errors: `engine_failed`. */
export function denoiseJobs(load: () => StreamDenoiser): JobHandlers {
  const free: StreamDenoiser[] = [];
  async function* denoise(
    _args: null,
    input: AsyncIterable<JobValue>,
    { signal }: JobContext,
  ): AsyncGenerator<Uint8Array> {
    let model: StreamDenoiser | undefined;
    try {
      model = free.pop() ?? (await announced(load));
      const stream = new Length(model);
      for await (const value of input) {
        signal.throwIfAborted();
        yield bytesOf(stream.push(samplesOf(value as Uint8Array)));
      }
      yield bytesOf(stream.finish());
      free.push(model);
    } catch (error) {
      signal.throwIfAborted();
      console.error(error);
      throw new ServiceError('engine_failed');
    }
  }
  return { [DENOISE_JOB]: denoise };
}
