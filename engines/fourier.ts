/**
 * The power spectrum of short frames, by a radix-2 transform whose tables are made once. Frames are real, and two of them are
 * transformed as the two parts of one complex frame, whose spectrum is taken apart by its symmetry.
 */

/** Position of each index with its bits reversed. */
function reversedBits(size: number): Uint16Array {
  const reversed = new Uint16Array(size);
  for (let index = 1; index < size; index++) {
    reversed[index] = (reversed[index >> 1]! >> 1) | (index & 1 ? size >> 1 : 0);
  }
  return reversed;
}

export class Fourier {
  /** A power of two. */
  readonly size: number;
  readonly #reversed: Uint16Array;
  readonly #cosines: Float64Array;
  readonly #sines: Float64Array;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;

  constructor(size: number) {
    this.size = size;
    this.#reversed = reversedBits(size);
    const angles = Float64Array.from({ length: size / 2 }, (_, index) => (-2 * Math.PI * index) / size);
    this.#cosines = angles.map(Math.cos);
    this.#sines = angles.map(Math.sin);
    this.#real = new Float64Array(size);
    this.#imaginary = new Float64Array(size);
  }

  /** Writes the power of frequencies 0 to `size / 2` into `power`; a shorter frame is padded with zeros. */
  power(frame: Float64Array, power: Float64Array): void {
    this.#transform(frame);
    for (let bin = 0; bin <= this.size / 2; bin++) {
      power[bin] = this.#real[bin]! ** 2 + this.#imaginary[bin]! ** 2;
    }
  }

  /** The same of two frames at once, in little more than the time of one. */
  powers(frame: Float64Array, other: Float64Array, power: Float64Array, otherPower: Float64Array): void {
    this.#transform(frame, other);
    const [real, imaginary] = [this.#real, this.#imaginary];
    for (let bin = 0; bin <= this.size / 2; bin++) {
      const mirrored = (this.size - bin) % this.size;
      power[bin] = ((real[bin]! + real[mirrored]!) ** 2 + (imaginary[bin]! - imaginary[mirrored]!) ** 2) / 4;
      otherPower[bin] =
        ((imaginary[bin]! + imaginary[mirrored]!) ** 2 + (real[bin]! - real[mirrored]!) ** 2) / 4;
    }
  }

  #transform(frame: Float64Array, other?: Float64Array): void {
    const reversed = this.#reversed;
    for (let index = 0; index < this.size; index++) {
      this.#real[reversed[index]!] = frame[index] ?? 0;
      this.#imaginary[reversed[index]!] = other?.[index] ?? 0;
    }
    for (let length = 2; length <= this.size; length *= 2) this.#combine(length);
  }

  /** One round of butterflies over blocks of `length`. */
  #combine(length: number): void {
    const [real, imaginary] = [this.#real, this.#imaginary];
    const half = length / 2;
    const step = this.size / length;
    for (let block = 0; block < this.size; block += length) {
      for (let index = 0; index < half; index++) {
        const low = block + index;
        const high = low + half;
        const cosine = this.#cosines[index * step]!;
        const sine = this.#sines[index * step]!;
        const turnedReal = real[high]! * cosine - imaginary[high]! * sine;
        const turnedImaginary = real[high]! * sine + imaginary[high]! * cosine;
        real[high] = real[low]! - turnedReal;
        imaginary[high] = imaginary[low]! - turnedImaginary;
        real[low]! += turnedReal;
        imaginary[low]! += turnedImaginary;
      }
    }
  }
}
