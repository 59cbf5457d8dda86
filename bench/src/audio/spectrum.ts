/**
 * A voice's long-term average spectrum over everything it says, by Welch's method, in the
 * thirds of an octave in which that of speech is published.
 */

/** Samples of a window; they overlap by half. */
const WINDOW = 1024;
/** Windows so much quieter than the loudest are pauses, in which a voice has no sound. */
const PAUSE_DB = 40;

/**
 * Long-term average spectrum of speech over twelve languages, men and women: dB in thirds of an octave, by their middle in
 * Hz (Byrne et al., J. Acoust. Soc. Am. 96, 1994). Lower ones tell the speaker's sex more than the voice's quality.
 */
export const SPEECH: readonly (readonly [hertz: number, decibels: number])[] = [
  [200, 60.2],
  [250, 60.3],
  [315, 59.0],
  [400, 62.1],
  [500, 62.1],
  [630, 60.5],
  [800, 56.8],
  [1000, 53.7],
  [1250, 53.0],
  [1600, 52.0],
  [2000, 48.7],
  [2500, 48.1],
  [3150, 46.8],
  [4000, 45.6],
  [5000, 44.5],
  [6300, 44.3],
];

const HALF_BAND = 2 ** (1 / 6);

const hann = Float64Array.from(
  { length: WINDOW },
  (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / WINDOW),
);

/** In place, of a power of two; `real` and `imaginary` alike long. */
function transform(real: Float64Array, imaginary: Float64Array): void {
  const size = real.length;
  for (let index = 1, other = 0; index < size; index += 1) {
    let bit = size >> 1;
    for (; other & bit; bit >>= 1) other ^= bit;
    other ^= bit;
    if (index < other) [real[index], real[other]] = [real[other]!, real[index]!];
  }
  for (let half = 1; half < size; half *= 2)
    for (let at = 0; at < half; at += 1) {
      const [cosine, sine] = [Math.cos((-Math.PI * at) / half), Math.sin((-Math.PI * at) / half)];
      for (let low = at; low < size; low += 2 * half) {
        const high = low + half;
        const turnedReal = real[high]! * cosine - imaginary[high]! * sine;
        const turnedImaginary = real[high]! * sine + imaginary[high]! * cosine;
        [real[high], imaginary[high]] = [real[low]! - turnedReal, imaginary[low]! - turnedImaginary];
        [real[low], imaginary[low]] = [real[low]! + turnedReal, imaginary[low]! + turnedImaginary];
      }
    }
}

/** Power of each bin of a window that begins there. */
function powers(samples: Int16Array, from: number): Float64Array {
  const real = hann.map((weight, index) => weight * samples[from + index]!);
  const imaginary = new Float64Array(WINDOW);
  transform(real, imaginary);
  return Float64Array.from({ length: WINDOW / 2 }, (_, bin) => real[bin]! ** 2 + imaginary[bin]! ** 2);
}

const total = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0);

/** Mean power of each bin, from 0 Hz to half of the rate, without the pauses. 16-bit samples. */
export function averageSpectrum(samples: Int16Array): Float64Array {
  const windows: Float64Array[] = [];
  for (let from = 0; from + WINDOW <= samples.length; from += WINDOW / 2) windows.push(powers(samples, from));
  const loudness = windows.map(total);
  const quietest = Math.max(...loudness) / 10 ** (PAUSE_DB / 10);
  const voiced = windows.filter((_, index) => loudness[index]! > quietest);
  return Float64Array.from(
    { length: WINDOW / 2 },
    (_, bin) => total(voiced.map((window) => window[bin]!)) / voiced.length,
  );
}

/** Hz below which 99 % of the power lies. */
export function bandwidth(spectrum: Float64Array, rate: number): number {
  const whole = total(spectrum);
  let below = 0;
  const bin = spectrum.findIndex((power) => (below += power) >= 0.99 * whole);
  return (bin * rate) / (2 * spectrum.length);
}

/** By how many dB, root mean square over the bands, a spectrum is off that of speech, once both are equally loud. */
export function offSpeech(spectrum: Float64Array, rate: number): number {
  const binOf = (hertz: number): number => Math.round((hertz * 2 * spectrum.length) / rate);
  const off = SPEECH.filter(([hertz]) => hertz * HALF_BAND < rate / 2).map(([hertz, decibels]) => {
    const band = spectrum.subarray(binOf(hertz / HALF_BAND), binOf(hertz * HALF_BAND) + 1);
    return 10 * Math.log10(total(band) + 1) - decibels;
  });
  const level = total(off) / off.length;
  return Math.sqrt(total(off.map((decibels) => (decibels - level) ** 2)) / off.length);
}
