/** A fixed line of an agent as sound. */
import { PLAYOUT_RATE } from '../../../contracts/audio.js';

export interface SpokenLine {
  readonly text: string;
  /** PCM at PLAYOUT_RATE. */
  readonly samples: Int16Array;
}

export const lengthMs = ({ samples }: SpokenLine): number => (samples.length * 1000) / PLAYOUT_RATE;
