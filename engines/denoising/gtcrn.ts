/**
 * GTCRN (Rong et al., 2024; MIT) on sherpa-onnx: a network of 48,000 parameters that removes noise from speech at 16 kHz,
 * 16 ms at a time (ops/models/gtcrn.json). A model that cannot be loaded is an error of the child.
 */
import sherpa from 'sherpa-onnx-node';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import { floatsOf, samplesOfFloats } from '../backends/samples.js';
import type { StreamDenoiser } from './jobs.js';

/** Errors: anything wrong with the file. Native code, so it needs a process of its own. */
export function loadGtcrn(model: string): StreamDenoiser {
  const denoiser = new sherpa.OnlineSpeechDenoiser({ model: { gtcrn: { model }, numThreads: 1, debug: 0 } });
  return {
    push(samples) {
      const waveform = { samples: floatsOf(samples), sampleRate: RECOGNITION_RATE };
      return samplesOfFloats(denoiser.run(waveform).samples);
    },
    finish: () => samplesOfFloats(denoiser.flush().samples),
  };
}
