/**
 * Encoder delay: the silence that must follow speech before its last sample leaves an encoder whose stream continues. It
 * comes from unfilled frames, look-ahead, MP3's bit reservoir and Ogg pages. The values are measured, and checked by a test.
 */
import type { AudioFormat, OutputFormat } from '../contracts/audio.js';

const FRAME_SAMPLES = 1152;
/** Most frames that MP3 holds back: the one being filled, two in the encoder, and the bit reservoir. */
const MP3_FRAMES = 6;
/** A page of 0.1 s that has just begun, the page before it, and one frame. */
const OPUS_SECONDS = 0.21;
/** The windows of the tempo filters, in seconds of audio before stretching. */
const STRETCH_SECONDS = 0.16;

const DELAY: Readonly<Record<AudioFormat, (output: OutputFormat) => number>> = {
  mp3: ({ sampleRate }) => (MP3_FRAMES * FRAME_SAMPLES) / sampleRate + 0.01,
  opus: () => OPUS_SECONDS,
  pcm: () => 0,
  wav: () => 0,
};

/** The encoder delay in seconds of playback, for audio that is sped up by the factor `speed`. */
export const encoderDelaySeconds = (output: OutputFormat, speed = 1): number =>
  DELAY[output.format](output) + (speed === 1 ? 0 : STRETCH_SECONDS / Math.min(1, speed));
