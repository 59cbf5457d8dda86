/**
 * Keeps the agent's own voice, which lines return, from being heard as the caller's. What a line returns is never louder than
 * what was sent a moment before less what is lost on the way: a frame that far below it is silence. So nothing has to be known
 * of the delay, and whoever speaks over the agent is heard.
 *
 * Voice is listened for in what is left. Words are recognised in more, where what counts as echo is only softer: a caller who is
 * hardly louder than the echo has syllables below it, and recognisers hear what is cut to pieces worse than what has an echo behind it.
 *
 * A line is taken to return much until it has shown that it returns less: callers who are soft are heard over the agent a few
 * seconds after it has begun to speak.
 *
 * Levels are mean squares of frames of 20 ms; ratios decibels.
 */

/** Beats that a line may take to return a voice: 400 ms, and 200 that a network adds. */
const DELAY = 30;
/** What is louder below the agent than this is no echo. */
const MOST_DB = -12;
/** Over the loudest that came back so far. */
const MARGIN_DB = 6;
/** How fast that is forgotten, a beat: 5 dB a second. */
const FORGOTTEN_DB = 0.1;
/** A caller who is heard stays so between syllables. */
const OPEN_BEATS = 15;
/** Of a voice; -50 dB of full scale. */
const LEAST = 32_768 ** 2 * 1e-5;
/** So much softer is an echo where words are recognised: -15 dB. */
const SOFTER = 10 ** (-15 / 20);

/** 20 ms, or whatever length was heard: both are as long. */
export interface Gated {
  /** Where words are recognised. */
  readonly sound: Int16Array;
  /** Where voice is listened for. */
  readonly watched: Int16Array;
}

const meanSquare = (samples: Int16Array): number => {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum / Math.max(1, samples.length);
};

export class EchoGate {
  /** What the agent has said in the last beats, the newest last. */
  readonly #said: number[];
  #now = 0;
  /** The loudest that came back, below what was said. */
  #returned = MOST_DB - MARGIN_DB;
  #open = 0;

  /** `ahead`: frames that leave before they are played. */
  constructor(ahead: number) {
    this.#said = Array<number>(DELAY + ahead).fill(0);
  }

  /** The agent has said that, in this beat. */
  said(samples: Int16Array): void {
    this.#now = Math.max(this.#now, meanSquare(samples));
  }

  /** Every 20 ms. */
  beat(): void {
    this.#said.push(this.#now);
    this.#said.shift();
    this.#now = 0;
  }

  /** What is heard of 20 ms: as it came, or as an echo. */
  hear(samples: Int16Array): Gated {
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
