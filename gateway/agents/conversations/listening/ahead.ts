/** The transcript of a stretch of voice that is made at a short pause, before it is certain that the stretch has ended. */
import { RECOGNITION_RATE } from '../../../../contracts/audio.js';
import { toServiceError } from '../../../../contracts/errors.js';
import type { Transcript } from '../../../../contracts/ports/speech/speech.js';

/**
 * Longest silence from a short pause to the end of the voice as VAD detects it: its quarter of a second plus the fading of the voice,
 * 6 to 12 frames of 32 ms together. After more than that somebody has spoken on, so softly that it counted as silence, and the
 * transcript made ahead is incomplete.
 */
const LONGEST_PAUSE = 0.4 * RECOGNITION_RATE;
/** Follows audio transcribed ahead, like the silence at the end of a stretch: without it a recogniser hears half a sentence ("outside,"). */
export const SILENCE = new Uint8Array(0.288 * RECOGNITION_RATE * Int16Array.BYTES_PER_ELEMENT);
/** A transcription of a stretch before its end is certain. */
export interface Ahead {
  /** It covers all stretches since that one; undefined: only its own. */
  readonly joins: number | undefined;
  /** Undefined if that failed. Rejects if nobody answered in time: to ask once more would take as long again. */
  readonly heard: Promise<Transcript | undefined>;
  /** Samples of the stretch that it covers. */
  readonly samples: number;
  readonly abort: AbortController;
}

/** Undefined in place of a failed transcript, unless nobody has answered in time. */
export function unlessLate(error: unknown): undefined {
  if (toServiceError(error).code === 'first_byte_timeout') throw error;
}

/** Whether only the silence of its short pause has come since. */
export const isOfPause = (ahead: Ahead, samples: number): boolean => samples - ahead.samples <= LONGEST_PAUSE;
