/** The silence with which engines begin (flite 45 ms at the median): a caller who waits for an answer would wait for it, too. */
import { PLAYOUT_RATE } from '../../../contracts/audio.js';

/** Amplitude of a sound: -58 dB, below the softest consonant. */
const SOUND = 40;
/** Kept before the first sound, in samples: 10 ms, in which it may begin more softly still. */
const KEPT = PLAYOUT_RATE / 100;

/** Samples at PLAYOUT_RATE at the beginning of speech that are silence; 0 where all of it is, as that may be meant. */
export const leadOf = (samples: Int16Array): number =>
  Math.max(0, samples.findIndex((sample) => Math.abs(sample) > SOUND) - KEPT);
