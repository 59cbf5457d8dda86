/**
 * Encoder delay: how much silence behind speech pushes its last sample out of an encoder whose stream goes on. It
 * comes of frames that are not full, the look-ahead, MP3's bit reservoir, a page of Ogg; measured, and held by a test.
 */
import type { AudioFormat, OutputFormat } from '../contracts/audio.js';

const FRAME_SAMPLES = 1152;
/** MP3 keeps up to six frames back: one that fills, the encoder's own two, and the bit reservoir. */
const MP3_FRAMES = 6;
/** A page of 0.1 s that has just begun, the one before it, and a frame. */
const OPUS_SECONDS = 0.21;
/** The windows of the tempo filters, in seconds before the stretch. */
const STRETCH_SECONDS = 0.16;

const DELAY: Readonly<Record<AudioFormat, (output: OutputFormat) => number>> = {
  mp3: ({ sampleRate }) => (MP3_FRAMES * FRAME_SAMPLES) / sampleRate + 0.01,
  opus: () => OPUS_SECONDS,
  pcm: () => 0,
  wav: () => 0,
};

/** The encoder delay in seconds as they are heard, for audio that is made `speed` times as fast. */
export const encoderDelaySeconds = (output: OutputFormat, speed = 1): number =>
  DELAY[output.format](output) + (speed === 1 ? 0 : STRETCH_SECONDS / Math.min(1, speed));
