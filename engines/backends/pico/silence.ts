/** Where the speech is in what Pico has spoken: it begins and ends with silence of up to half a second. */

/** Samples below it are no sound. */
const QUIET = 64;

const isSound = (sample: number): boolean => Math.abs(sample) >= QUIET;

export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** From the first to behind the last sample that can be heard; empty if there is none. */
export function soundOf(samples: Int16Array): Span {
  const begin = samples.findIndex(isSound);
  return begin < 0 ? { begin: 0, end: 0 } : { begin, end: samples.findLastIndex(isSound) + 1 };
}

/** Behind the last sample of the span that can be heard; its end if there is none. */
export function lastSound(samples: Int16Array, begin: number, end: number): number {
  const last = samples.subarray(begin, end).findLastIndex(isSound);
  return last < 0 ? end : begin + last + 1;
}
