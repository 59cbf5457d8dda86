/** Audio formats and samples. PCM is signed 16-bit little-endian mono throughout. */

export type AudioFormat = 'mp3' | 'wav' | 'pcm' | 'opus';

export const MP3_BITRATES = [64, 128, 192] as const;
export type Mp3Bitrate = (typeof MP3_BITRATES)[number];

/** bit/s */
export const OPUS_BITRATES = [24_000, 32_000, 48_000, 64_000] as const;
/** `opus_bitrate` by which clients let the encoder choose. */
export const OPUS_BITRATE_AUTOMATIC = -1000;

/** The audio format of an answer: a row of the formats table with its sample rate and bitrate (rules 8 and 9). */
export interface OutputFormat {
  readonly format: AudioFormat;
  /** Hz */
  readonly sampleRate: number;
  /** kbit/s, MP3 only */
  readonly mp3Bitrate?: Mp3Bitrate;
  /** bit/s, Opus only; absent means automatic */
  readonly opusBitrate?: number;
}

/** Loudness of the audio. */
export interface LevelOptions {
  /** dB, −20 to 20; clamped to that range */
  readonly volume: number;
  /** Brings speech to one loudness before the volume is applied. */
  readonly normalizeLoudness: boolean;
}

/** Sample rate of recognition and voice activity, in Hz. */
export const RECOGNITION_RATE = 16_000;

/** Sample rate of agents' speech in calls, in Hz. */
export const PLAYOUT_RATE = 24_000;

export const BYTES_PER_SAMPLE = 2;

/** The bytes of the samples, without a copy. */
export const bytesOf = (samples: Int16Array): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);

/** The samples of the bytes: a view if they are aligned, else a copy. An odd last byte is left out. */
export function samplesOf(bytes: Uint8Array): Int16Array {
  const length = bytes.byteLength >> 1;
  if (bytes.byteOffset % 2 === 0) return new Int16Array(bytes.buffer, bytes.byteOffset, length);
  const samples = new Int16Array(length);
  // Not `slice`, which is no copy for a Buffer.
  bytesOf(samples).set(bytes.subarray(0, length * BYTES_PER_SAMPLE));
  return samples;
}

/** Joins several pieces into one. */
export function joinSamples(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
