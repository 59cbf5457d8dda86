/** Encoding and decoding, as the speech pipeline sees them. `codecs/` implements both. */
import type { Caller } from '../accounts/identity.js';
import type { JobOwner } from '../jobs.js';
import type { LevelOptions, OutputFormat } from '../../audio.js';

/** Changes applied to audio while it is encoded, and whose audio it is. */
export interface AudioChanges {
  /** Tempo factor at unchanged pitch; default 1. */
  readonly speed?: number;
  /** Absent: loudness is not changed. */
  readonly level?: LevelOptions;
  /** Default NOBODY. */
  readonly owner?: JobOwner;
}

/**
 * Levels, resamples and encodes PCM as it arrives. `pcm` yields samples at `rate` Hz, and never writes to
 * them again. Leaving the loop, or an abort, stops the encoder. Errors: `engine_lost`, `engine_failed`.
 */
export type Encode = (
  pcm: AsyncIterable<Int16Array>,
  rate: number,
  output: OutputFormat,
  signal: AbortSignal,
  changes?: AudioChanges,
) => AsyncIterable<Uint8Array>;

/** An uploaded file on disk, which only this user can read; it is there until its request has ended. */
export class StoredFile {
  /** `size`: bytes. */
  constructor(
    readonly path: string,
    readonly size: number,
  ) {}
}

/** Bytes of an uploaded file. */
export const sizeOf = (file: Uint8Array | StoredFile): number =>
  file instanceof StoredFile ? file.size : file.length;

/**
 * Decodes an uploaded file of any known container to 16 kHz mono PCM, in an isolated process under limits.
 * Errors: `audio_unreadable`, `audio_too_long`, `engine_busy`.
 */
export type Decode = (
  file: Uint8Array | StoredFile,
  caller: Pick<Caller, 'workspaceId' | 'isLive'>,
  signal: AbortSignal,
) => AsyncIterable<Int16Array>;
