/** Changes the sample rate, with a windowed sinc. */

/** Zero crossings of the sinc on either side. */
const CROSSINGS = 16;
/** Cutoff of the low-pass, as a share of half the lower rate. */
const PASSED = 0.95;

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** The interpolated value `at` samples after the first. `cutoff`: share of half the rate, at most 1. */
function interpolated(samples: Int16Array, at: number, cutoff: number): number {
  const reach = CROSSINGS / cutoff;
  const last = Math.min(samples.length - 1, Math.floor(at + reach));
  let sum = 0;
  for (let index = Math.max(0, Math.ceil(at - reach)); index <= last; index += 1) {
    const away = index - at;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * away) / reach);
    sum += samples[index]! * cutoff * sinc(cutoff * away) * window;
  }
  return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
}

/** 16-bit samples of one rate in Hz at another one. */
export function resampled(samples: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return samples;
  const cutoff = PASSED * Math.min(1, to / from);
  const count = Math.floor((samples.length * to) / from);
  return Int16Array.from({ length: count }, (_, index) => interpolated(samples, (index * from) / to, cutoff));
}
