import { AUDIBLE } from '../audio/level.js';

export interface Sounding {
  /** Milliseconds from the beginning to the first and to behind the last sample that can be heard. */
  readonly from: number;
  readonly to: number;
}

/** `pcm` is 16-bit mono at that rate. Amplitudes below 100 count as silence. */
export function soundingOf(pcm: Buffer, rate: number): Sounding {
  const isAudible = (index: number): boolean => Math.abs(pcm.readInt16LE(index * 2)) > AUDIBLE;
  const count = pcm.length >> 1;
  let [first, last] = [0, count - 1];
  while (first < count && !isAudible(first)) first += 1;
  while (last > first && !isAudible(last)) last -= 1;
  return { from: (first * 1000) / rate, to: ((last + 1) * 1000) / rate };
}
