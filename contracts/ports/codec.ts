/** Between PCM and bytes, as the speech pipeline sees it. `codecs/` implements both. */
import type { OutputFormat } from '../audio.js';

/**
 * Resamples and encodes while the PCM still arrives. `pcm` yields samples at `rate` Hz. With a `speed` other
 * than 1 the audio is that many times as fast, at the same pitch.
 * Leaving the loop, or an abort, stops the encoder. Errors: `engine_lost`, `engine_failed`.
 */
export type Encode = (
  pcm: AsyncIterable<Int16Array>,
  rate: number,
  output: OutputFormat,
  signal: AbortSignal,
  speed?: number,
) => AsyncIterable<Uint8Array>;

/**
 * Decodes an uploaded file of any known container to 16 kHz mono PCM, in an isolated process under limits.
 * Errors: `audio_unreadable`, `audio_too_long`, `engine_busy`.
 */
export type Decode = (file: Uint8Array, signal: AbortSignal) => AsyncIterable<Int16Array>;
