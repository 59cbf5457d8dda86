/**
 * Keeps the agent's own voice, which lines return, from being heard as the caller's. The echo of a line is never louder than the
 * loudest recent speech of the agent minus the line's loss: a frame below that counts as silence. So the delay need not be known,
 * and a caller who speaks over the agent is heard.
 *
 * VAD listens to audio with the echo silenced. The recogniser gets audio with the echo only attenuated: a caller hardly louder than
 * the echo has syllables below it, and recognisers cope worse with gaps in the words than with an echo behind them.
 *
 * A line is assumed to return much until it has shown that it returns less: soft callers are heard over the agent only a few
 * seconds after it has begun to speak.
 *
 * Levels are mean squares of frames of 20 ms; ratios decibels.
 */

/** Longest delay of an echo, in beats: 400 ms, and 200 that a network adds. */
const DELAY = 30;
/** Loudest echo, relative to the agent; anything louder is the caller. */
const MOST_DB = -12;
/** Margin above the loudest echo so far. */
const MARGIN_DB = 6;
/** Decay of that loudest echo per beat: 5 dB a second. */
const FORGOTTEN_DB = 0.1;
/** Beats for which the gate stays open between a caller's syllables. */
const OPEN_BEATS = 15;
/** Least level of the agent's voice that can echo; -50 dB of full scale. */
const LEAST = 32_768 ** 2 * 1e-5;
/** Attenuation of an echo for the recogniser: -15 dB. */
const SOFTER = 10 ** (-15 / 20);

/** Both are as long as the input. */
export interface GatedFrame {
  /** For the recogniser. */
  readonly sound: Int16Array;
  /** For VAD. */
  readonly watched: Int16Array;
}

const meanSquare = (samples: Int16Array): number => {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum / Math.max(1, samples.length);
};

export class EchoGate {
  /** Levels of the agent's speech in the last beats, the newest last. */
  readonly #said: number[];
  #now = 0;
  /** Level of the loudest echo so far, relative to the agent's speech. */
  #returned = MOST_DB - MARGIN_DB;
  #open = 0;

  /** `ahead`: frames that are sent before they are played. */
  constructor(ahead: number) {
    this.#said = Array<number>(DELAY + ahead).fill(0);
  }

  /** Notes a frame of the agent's speech in this beat. */
  said(samples: Int16Array): void {
    this.#now = Math.max(this.#now, meanSquare(samples));
  }

  /** Called every 20 ms. */
  beat(): void {
    this.#said.push(this.#now);
    this.#said.shift();
    this.#now = 0;
  }

  /** Gates 20 ms of the line: unchanged for the caller, suppressed if echo. */
  hear(samples: Int16Array): GatedFrame {
    if (this.#isOpen(samples)) return { sound: samples, watched: samples };
    return { sound: samples.map((sample) => sample * SOFTER), watched: new Int16Array(samples.length) };
  }

  #isOpen(samples: Int16Array): boolean {
    const said = Math.max(...this.#said, this.#now);
    if (said < LEAST) return true;
    const ratio = 10 * Math.log10(Math.max(1, meanSquare(samples)) / said);
    if (ratio > Math.min(MOST_DB, this.#returned + MARGIN_DB)) this.#open = OPEN_BEATS;
    else if (this.#open === 0) this.#returned = Math.max(ratio, this.#returned - FORGOTTEN_DB);
    if (this.#open === 0) return false;
    this.#open -= 1;
    return true;
  }
}
