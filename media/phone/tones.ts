/**
 * Sounds that we add to the line: the hold sound, and keys of a telephone as in-band tones (ITU-T Q.23), which work on every
 * line, even if its provider has no command for keys. Each tone is 100 ms with as much silence after it (Q.24 asks receivers
 * for 40), the high frequency louder by 2 dB, as lines weaken it.
 */
import { PLAYOUT_RATE } from '../../contracts/audio.js';
import { FRAME_MS, FRAME_SAMPLES } from '../playout.js';

const PAD = ['123', '456', '789', '*0#'];
/** Hz */
const LOW = [697, 770, 852, 941];
const HIGH = [1209, 1336, 1477];
/** Amplitudes; their sum is below half of full scale. */
const LEVEL = { low: 6500, high: 8200 };

const TONE_FRAMES = 100 / FRAME_MS;
/** The pause of `w`. */
const WAIT_FRAMES = 500 / FRAME_MS;

const silence = (frames: number): Int16Array[] =>
  Array.from({ length: frames }, () => new Int16Array(FRAME_SAMPLES));

const sine = (hertz: number, at: number): number => Math.sin((2 * Math.PI * hertz * at) / PLAYOUT_RATE);

function toneOf(key: string): Int16Array[] {
  const row = PAD.findIndex((keys) => keys.includes(key));
  const [low = 0, high = 0] = [LOW[row], HIGH[PAD[row]?.indexOf(key) ?? -1]];
  return Array.from({ length: TONE_FRAMES }, (_, frame) =>
    Int16Array.from({ length: FRAME_SAMPLES }, (__, sample) => {
      const at = frame * FRAME_SAMPLES + sample;
      return Math.round(LEVEL.low * sine(low, at) + LEVEL.high * sine(high, at));
    }),
  );
}

/** Playout frames with the tones of `keys`: 0-9, *, # and w, a pause of half a second. */
export const tonesOf = (keys: string): Int16Array[] =>
  [...keys].flatMap((key) =>
    key === 'w' ? silence(WAIT_FRAMES) : [...toneOf(key), ...silence(TONE_FRAMES)],
  );

/** The hold sound: two soft notes and a long pause, repeated. */
const NOTES = [659.26, 523.25];
const NOTE_FRAMES = 600 / FRAME_MS;
const HOLD_PAUSE_FRAMES = 2800 / FRAME_MS;
const HOLD_LEVEL = 2600;

/** A note that begins and ends without a click. */
function noteOf(hertz: number): Int16Array[] {
  const all = NOTE_FRAMES * FRAME_SAMPLES;
  return Array.from({ length: NOTE_FRAMES }, (_, frame) =>
    Int16Array.from({ length: FRAME_SAMPLES }, (__, sample) => {
      const at = frame * FRAME_SAMPLES + sample;
      const swell = Math.min(1, at / 480) * (1 - at / all) ** 2;
      return Math.round(HOLD_LEVEL * swell * sine(hertz, at));
    }),
  );
}

let hold: readonly Int16Array[] | undefined;

/** Playout frames of the hold sound, to be repeated without end. Made once. */
export const HOLD = (): readonly Int16Array[] =>
  (hold ??= [...NOTES.flatMap(noteOf), ...silence(HOLD_PAUSE_FRAMES)]);
