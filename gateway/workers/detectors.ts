/** Voice activity detection of the workers. All calls of a worker share the model, which is loaded once. */
import { createDetectors } from '../../engines/backends/silero/detector.js';
import { DETECTOR_FRAME } from '../../media/detector-frame.js';
import { loudnessDetector } from '../../media/loudness.js';
import type { VoiceDetector } from '../../media/vad-windows.js';

type Kind = 'voices' | 'loudness';

let voices: (() => VoiceDetector) | undefined;

/** Makes a detector for each call. `MODELS_DIR` is the folder of the model files. */
export const DETECTORS: Readonly<Record<Kind, () => VoiceDetector>> = {
  voices: () => (voices ??= createDetectors(process.env['MODELS_DIR'] || undefined))(),
  loudness: loudnessDetector,
};

/**
 * Loads what the first call would wait for, and compiles the code of a frame. A model that is missing ends the calls that want
 * it, with the reason, and not the worker.
 */
export function prepare(kind: Kind): void {
  try {
    DETECTORS[kind]().push(new Int16Array(DETECTOR_FRAME));
  } catch {
    // Each call tells it.
  }
}
