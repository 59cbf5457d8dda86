/**
 * What encoders hold back: how much silence behind speech brings its last sample out while the stream goes on.
 * Frames that are not full, the look-ahead, MP3's bit reservoir, a page of Ogg; measured, and held by a test.
 */
import type { AudioFormat, OutputFormat } from '../contracts/audio.js';

const FRAME_SAMPLES = 1152;
/** MP3 leaves up to six frames behind: one that fills, the encoder's own two, and the bit reservoir. */
const MP3_FRAMES = 6;
/** A page of 0.1 s that has just begun, the one before it, and a frame. */
const OPUS_SECONDS = 0.21;
/** Of the engine's time: the windows of the tempo filters. */
const STRETCH_SECONDS = 0.16;

const HELD: Readonly<Record<AudioFormat, (output: OutputFormat) => number>> = {
  mp3: ({ sampleRate }) => (MP3_FRAMES * FRAME_SAMPLES) / sampleRate + 0.01,
  opus: () => OPUS_SECONDS,
  pcm: () => 0,
  wav: () => 0,
};

/** Seconds, as they are heard, of audio that is made `speed` times as fast. */
export const heldSeconds = (output: OutputFormat, speed = 1): number =>
  HELD[output.format](output) + (speed === 1 ? 0 : STRETCH_SECONDS / Math.min(1, speed));
