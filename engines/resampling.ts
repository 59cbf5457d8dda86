/**
 * Converts samples from any rate to another, usually that of recognition: a streaming windowed-sinc filter in polyphase
 * form. Plain arithmetic, 1 to 2 ms per second of audio, so it runs beside any engine, in a child or in the gateway.
 *
 * Invariants: the output has ceil(samples × target / rate) samples, however the input is cut, and no delay;
 * it has nothing above half of either rate.
 */
import { RECOGNITION_RATE } from '../contracts/audio.js';

interface Filter {
  /** Output samples of a period, each with its own taps, and (`step`) the input samples that they cover. */
  readonly phases: number;
  readonly step: number;
  /** Taps of one phase, a multiple of four; half of them lie before the output sample. */
  readonly taps: number;
  /** Ordered by phase. */
  readonly coefficients: Float64Array;
}

/** Zero crossings of the sinc on either side: the transition takes 8 % of the band. */
const CROSSINGS = 16;
const ROLL_OFF = 0.92;
const KEPT_FILTERS = 16;

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** Windowed sinc (Blackman) at `x` zero crossings from its middle. */
function kernel(x: number): number {
  if (Math.abs(x) >= CROSSINGS) return 0;
  const angle = (Math.PI * x) / CROSSINGS;
  const window = 0.42 + 0.5 * Math.cos(angle) + 0.08 * Math.cos(2 * angle);
  return x === 0 ? window : (window * Math.sin(Math.PI * x)) / (Math.PI * x);
}

function makeFilter(rate: number, target: number): Filter {
  const common = divisor(target, rate);
  const phases = target / common;
  /** Zero crossings per input sample. */
  const density = ROLL_OFF * Math.min(1, target / rate);
  const half = 2 * Math.ceil(CROSSINGS / density / 2);
  const taps = 2 * half;
  const step = rate / common;
  const coefficients = new Float64Array(phases * taps);
  for (let phase = 0; phase < phases; phase++) {
    const offset = ((phase * step) % phases) / phases;
    for (let tap = 0; tap < taps; tap++)
      coefficients[phase * taps + tap] = density * kernel((tap - half + 1 - offset) * density);
  }
  return { phases, step, taps, coefficients };
}

const filters = new Map<string, Filter>();

function filterFor(rate: number, target: number): Filter {
  const key = `${rate}/${target}`;
  const known = filters.get(key);
  if (known) return known;
  if (filters.size >= KEPT_FILTERS) filters.clear();
  const made = makeFilter(rate, target);
  filters.set(key, made);
  return made;
}

const toSample = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)));

/** The weighted sum of `taps` values from there on. Four sums, because a processor would wait for each addition to a single one. */
function weighted({ taps, coefficients }: Filter, phase: number, values: Float64Array, from: number): number {
  let [one, two, three, four] = [0, 0, 0, 0];
  for (let tap = 0, at = phase * taps; tap < taps; tap += 4, at += 4) {
    one += values[from + tap]! * coefficients[at]!;
    two += values[from + tap + 1]! * coefficients[at + 1]!;
    three += values[from + tap + 2]! * coefficients[at + 2]!;
    four += values[from + tap + 3]! * coefficients[at + 3]!;
  }
  return one + two + (three + four);
}

/** One stream. Rates in Hz, whole numbers. */
export class Resampling {
  readonly #filter: Filter;
  /** Input that later output needs, with silence in front of the first sample; the first `#filled` values. */
  #held: Float64Array;
  #filled: number;
  /** Number of output samples so far, and the position in the stream of the first sample of `#held`. */
  #made = 0;
  #from: number;
  #taken = 0;

  constructor(rate: number, target: number = RECOGNITION_RATE) {
    this.#filter = filterFor(rate, target);
    const before = this.#filter.taps / 2 - 1;
    this.#held = new Float64Array(before);
    this.#filled = before;
    this.#from = -before;
  }

  push(samples: Int16Array): Int16Array {
    this.#taken += samples.length;
    return this.#convert(samples, this.#outputsWithin(this.#taken - this.#filter.taps / 2));
  }

  /** The last samples, which the filter still holds. Call once, at the end. */
  finish(): Int16Array {
    const { taps } = this.#filter;
    return this.#convert(new Int16Array(taps / 2), this.#outputsWithin(this.#taken));
  }

  /** Number of outputs that cover the input before `input`. */
  #outputsWithin(input: number): number {
    const { phases, step } = this.#filter;
    return Math.max(this.#made, Math.ceil((input * phases) / step));
  }

  #convert(samples: Int16Array, until: number): Int16Array {
    this.#take(samples);
    const { phases, step, taps } = this.#filter;
    const output = new Int16Array(until - this.#made);
    for (let at = 0, index = this.#made; index < until; at++, index++) {
      const start = Math.floor((index * step) / phases) - taps / 2 + 1 - this.#from;
      output[at] = toSample(weighted(this.#filter, index % phases, this.#held, start));
    }
    this.#made = until;
    this.#forget();
    return output;
  }

  #take(samples: Int16Array): void {
    const filled = this.#filled + samples.length;
    if (filled > this.#held.length) {
      const held = new Float64Array(filled);
      held.set(this.#held.subarray(0, this.#filled));
      this.#held = held;
    }
    this.#held.set(samples, this.#filled);
    this.#filled = filled;
  }

  /** Moves what later output needs to the front. */
  #forget(): void {
    const { phases, step, taps } = this.#filter;
    const needed = Math.floor((this.#made * step) / phases) - taps / 2 + 1;
    const done = Math.min(this.#filled, Math.max(0, needed - this.#from));
    this.#held.copyWithin(0, done, this.#filled);
    this.#filled -= done;
    this.#from += done;
  }
}

/** The stream at another rate; unchanged if it has that already. */
export async function* atRate(
  audio: AsyncIterable<Int16Array>,
  rate: number,
  target: number,
): AsyncGenerator<Int16Array> {
  if (rate === target) return yield* audio;
  const resampling = new Resampling(rate, target);
  for await (const samples of audio) yield resampling.push(samples);
  yield resampling.finish();
}

/** The stream at the rate of recognition; unchanged if it has that already. */
export const atRecognitionRate = (
  audio: AsyncIterable<Int16Array>,
  rate: number,
): AsyncGenerator<Int16Array> => atRate(audio, rate, RECOGNITION_RATE);
