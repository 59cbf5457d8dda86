/** Noise reduction before transcription. `engines/denoising` implements it. */
import type { JobOwner } from '../jobs.js';
import type { RawAudio } from './speech.js';

export interface Denoiser {
  /**
   * The same speech with less noise, of the same length, at RECOGNITION_RATE. If the model is late, busy or broken: the
   * original audio. Errors: only the reason of an abort.
   */
  denoise(audio: RawAudio, owner: JobOwner, signal: AbortSignal): Promise<RawAudio>;
}
