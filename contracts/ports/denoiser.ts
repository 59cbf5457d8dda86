/** Noise reduction: what was said, out of the noise around it, before it is transcribed. `engines/denoising` has one. */
import type { RawAudio } from './speech.js';

export interface Denoiser {
  /**
   * The same speech with less noise, as long as it was, at RECOGNITION_RATE. Where the model is late, busy or broken: the
   * audio as it was. Errors: the reason of an abort, and nothing else.
   */
  denoise(audio: RawAudio, signal: AbortSignal): Promise<RawAudio>;
}
