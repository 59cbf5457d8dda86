/** A stretch of the user's voice, or of the background: what is known of it while it is spoken, and when it has ended. */
import type { LiveHearing } from '../../../../actors/live-hearing.js';
import { RECOGNITION_RATE } from '../../../../contracts/audio.js';
import type { Transcript } from '../../../../contracts/ports/speech/speech.js';
import type { JoinedStretches, StretchPart } from './stretch-group.js';

/**
 * Longest silence from a short pause to the end of the voice as VAD detects it: its quarter of a second plus the fading of the voice,
 * 6 to 12 frames of 32 ms together. After more than that somebody has spoken on, so softly that it counted as silence, and the
 * transcript made ahead is incomplete.
 */
const LONGEST_PAUSE = 0.4 * RECOGNITION_RATE;

export interface Stretch {
  /** Undefined in the background. */
  readonly span: number | undefined;
  readonly chunks: Uint8Array[];
  samples: number;
  interimAt: number;
  /** Whether somebody waits for its words while it is spoken. */
  readonly isAwaited: boolean;
  /** Its last partial transcript. */
  text: string;
  /** Hears it while it is spoken; undefined in the background, and if the recogniser cannot. */
  readonly live?: LiveHearing | undefined;
}

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

/** Whether only the silence of its short pause has come since. */
export const isOfPause = (ahead: Ahead, samples: number): boolean => samples - ahead.samples <= LONGEST_PAUSE;

/** A stretch that has ended, its voiced part, and that together with the stretches before it. */
export interface Ended {
  readonly stretch: Stretch;
  readonly ahead: Ahead | undefined;
  readonly part: StretchPart | undefined;
  readonly group: JoinedStretches | undefined;
}
