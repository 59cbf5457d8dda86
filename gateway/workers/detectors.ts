/** Voice activity detection of the workers; the model is loaded by the first call. */
import { createDetectors } from '../../engines/backends/silero/detector.js';
import { loudnessDetector } from '../../media/loudness.js';
import type { VoiceDetector } from '../../media/vad-windows.js';

let voices: (() => VoiceDetector) | undefined;

/** Makes a detector for each call. `MODELS_DIR` is the folder of the model files. */
export const DETECTORS: Readonly<Record<'voices' | 'loudness', () => VoiceDetector>> = {
  voices: () => (voices ??= createDetectors(process.env['MODELS_DIR'] || undefined))(),
  loudness: loudnessDetector,
};
