/**
 * Voice by loudness alone: whatever is clearly louder than silence. It hears tones, which a model of human voices does
 * not; for engines that speak in tones, in tests and benchmarks.
 */
import { DETECTOR_FRAME } from './detector-frame.js';
import type { VoiceDetector } from './vad-windows.js';

/** Root of the mean square, of 16-bit samples. */
const LOUD = 600;
/** As quick as the detector of voices: two frames to be sure of a beginning, a quarter of a second of an end. */
const FRAMES = { begin: 2, end: 8 };

function isLoud(frame: Int16Array): boolean {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return sum > LOUD * LOUD * DETECTOR_FRAME;
}

export function loudnessDetector(): VoiceDetector {
  let active = false;
  /** Frames in a row that speak against the present state. */
  let contrary = 0;
  return {
    push(frame) {
      contrary = isLoud(frame) === active ? 0 : contrary + 1;
      if (contrary < FRAMES[active ? 'end' : 'begin']) return active;
      contrary = 0;
      active = !active;
      return active;
    },
    release: () => undefined,
  };
}
