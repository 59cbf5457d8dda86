/**
 * Voice activity by loudness alone: any sound clearly louder than silence. Unlike a model of human voices it detects
 * tones, for engines that speak in tones, in tests and benchmarks.
 */
import { DETECTOR_FRAME } from './detector-frame.js';
import type { VoiceDetector } from './vad-windows.js';

/** RMS threshold, for 16-bit samples. */
const LOUD = 600;
/** As quick as the VAD of voices: two frames confirm a beginning, a quarter of a second an end. */
const FRAMES = { begin: 2, end: 8 };

function isLoud(frame: Int16Array): boolean {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return sum > LOUD * LOUD * DETECTOR_FRAME;
}

export function loudnessDetector(): VoiceDetector {
  let active = false;
  /** Frames in a row that contradict the present state. */
  let contrary = 0;
  return {
    push(frame) {
      contrary = isLoud(frame) === active ? 0 : contrary + 1;
      if (contrary < FRAMES[active ? 'end' : 'begin']) return active;
      contrary = 0;
      active = !active;
      return active;
    },
  };
}
