/**
 * Power spectra of frames of 400 samples (25 ms at 16 kHz), two frames per transform: a mixed-radix Stockham transform
 * whose tables are made once. 400 is no power of two, but the model was trained on exactly these frequencies.
 */
export const FRAME = 400;
/** Frequencies 0 to 8 kHz, 40 Hz apart. */
export const BINS = FRAME / 2 + 1;

class Complex {
  readonly real = new Float64Array(FRAME);
  readonly imaginary = new Float64Array(FRAME);
}

/**
 * One round: values `stride` apart are split into `radix` interleaved transforms. Its factors are stored in order of
 * use: for each value of the transform and each output, one per term.
 */
interface Round {
  readonly radix: number;
  readonly stride: number;
  readonly parts: number;
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
}

function roundOf(radix: number, stride: number): Round {
  const parts = FRAME / stride / radix;
  const angles = Array.from({ length: parts * radix * radix }, (_, index) => {
    const [term, out] = [index % radix, Math.floor(index / radix) % radix];
    const at = Math.floor(index / radix / radix);
    return -2 * Math.PI * out * (term / radix + (at * stride) / FRAME);
  });
  const [cosines, sines] = [Float64Array.from(angles, Math.cos), Float64Array.from(angles, Math.sin)];
  return { radix, stride, parts, cosines, sines };
}

/** 4 × 4 × 5 × 5. */
const ROUNDS = [roundOf(4, 1), roundOf(4, 4), roundOf(5, 16), roundOf(5, 80)];

function perform({ radix, stride, parts, cosines, sines }: Round, from: Complex, to: Complex): void {
  const { real, imaginary } = from;
  const step = stride * parts;
  let target = 0;
  for (let row = 0; row < parts * radix; row++) {
    const first = stride * Math.floor(row / radix);
    for (let lane = 0; lane < stride; lane++, target++) {
      let sumReal = 0;
      let sumImaginary = 0;
      for (let term = 0; term < radix; term++) {
        const index = first + lane + term * step;
        const factor = row * radix + term;
        sumReal += real[index]! * cosines[factor]! - imaginary[index]! * sines[factor]!;
        sumImaginary += real[index]! * sines[factor]! + imaginary[index]! * cosines[factor]!;
      }
      to.real[target] = sumReal;
      to.imaginary[target] = sumImaginary;
    }
  }
}

export class Fourier400 {
  #from = new Complex();
  #to = new Complex();

  /** Writes the power of both frames at each frequency. */
  powers(one: Float64Array, other: Float64Array, powerOfOne: Float64Array, powerOfOther: Float64Array): void {
    this.#from.real.set(one);
    this.#from.imaginary.set(other);
    for (const round of ROUNDS) {
      perform(round, this.#from, this.#to);
      [this.#from, this.#to] = [this.#to, this.#from];
    }
    this.#part(powerOfOne, powerOfOther);
  }

  /** The two real frames went in as the parts of complex numbers: their spectra are the even and the odd part. */
  #part(powerOfOne: Float64Array, powerOfOther: Float64Array): void {
    const { real, imaginary } = this.#from;
    for (let bin = 0; bin < BINS; bin++) {
      const mirrored = (FRAME - bin) % FRAME;
      powerOfOne[bin] =
        ((real[bin]! + real[mirrored]!) ** 2 + (imaginary[bin]! - imaginary[mirrored]!) ** 2) / 4;
      powerOfOther[bin] =
        ((imaginary[bin]! + imaginary[mirrored]!) ** 2 + (real[bin]! - real[mirrored]!) ** 2) / 4;
    }
  }
}
