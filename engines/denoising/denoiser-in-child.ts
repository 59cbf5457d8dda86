/**
 * Noise reduction, seen from the gateway: it runs in a `denoise` child.
 *
 * Invariants: no failure reaches a transcription, which then gets the original audio; an answer that takes too long is
 * cancelled, also in the child; a failure is logged if it is the first, or the first since an answer.
 */
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import type { Denoiser } from '../../contracts/ports/speech/denoiser.js';
import type { JobOwner, JobRunner } from '../../contracts/ports/jobs.js';
import type { RawAudio } from '../../contracts/ports/speech/speech.js';
import { samplesOfRaw, secondsOf } from '../raw-audio.js';
import { atRate } from '../resampling.js';
import { valuesOfAudio } from '../speech-jobs.js';
import { DENOISE_JOB } from './jobs.js';

/** Longest wait; on a free core the work takes a few hundredths of the audio's duration. */
const mostMs = (audio: RawAudio): number => 1000 + 250 * secondsOf(audio);

export class DenoiserInChild implements Denoiser {
  #fails = false;

  constructor(
    private readonly runner: JobRunner,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  async denoise(audio: RawAudio, owner: JobOwner, signal: AbortSignal): Promise<RawAudio> {
    const late = new AbortController();
    const cancel = this.clock.after(mostMs(audio), () => late.abort());
    try {
      const chunks = await this.#ask(audio, owner, AbortSignal.any([signal, late.signal]));
      this.#fails = false;
      return { chunks, sampleRate: RECOGNITION_RATE };
    } catch (error) {
      signal.throwIfAborted();
      this.#failed(error);
      return audio;
    } finally {
      cancel();
    }
  }

  async #ask(audio: RawAudio, owner: JobOwner, signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const input = valuesOfAudio(atRate(samplesOfRaw(audio), audio.sampleRate, RECOGNITION_RATE));
    const chunks: Uint8Array[] = [];
    for await (const value of this.runner.runJob(DENOISE_JOB, null, { input, owner, signal }))
      chunks.push(value as Uint8Array);
    return chunks;
  }

  #failed(error: unknown): void {
    if (!this.#fails) this.log.warn({ err: error }, 'noise was not reduced: the audio is heard as it was');
    this.#fails = true;
  }
}
