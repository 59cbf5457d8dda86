/**
 * Where the samples of a stream of 16-bit audio begin after a turn that ended within one. A client that cuts its recording
 * into pieces of an odd length sends the other half next; one that begins anew sends a whole sample. The bytes alone tell
 * them apart: read from the wrong byte on, sound jumps from sample to sample like noise.
 */

/** Samples that differ from the one before, after which the answer is certain. */
const ENOUGH = 8192;
/** Bytes of silence after which no more are looked at. */
const MOST_BYTES = 1024 * 1024;
/** The new beginning must be smoother by this factor: full-scale noise is equally rough both ways. */
const FACTOR = 2;
/** Read from the wrong byte on, already a step between two neighbouring samples is one of 256. */
const LEAST = 255;

export type SampleAlignment = 'continues' | 'anew' | 'unknown';

/** Signed 16-bit sample of two bytes. */
const sampleOf = (low: number, high: number): number => ((high << 24) >> 16) | low;

/** The sums of the steps from sample to sample, for samples that end at odd and at even positions. */
class SampleRoughness {
  readonly sums = [0, 0];
  steps = 0;
  #before: number;
  readonly #last: (number | undefined)[] = [undefined, undefined];
  #at = 0;

  constructor(half: number) {
    this.#before = half;
  }

  read(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.steps >= ENOUGH || this.#at >= MOST_BYTES) return;
      this.#step(this.#at % 2, sampleOf(this.#before, byte));
      this.#before = byte;
      this.#at += 1;
    }
  }

  #step(side: number, sample: number): void {
    const last = this.#last[side];
    this.#last[side] = sample;
    if (last === undefined || last === sample) return;
    this.sums[side]! += Math.abs(sample - last);
    this.steps += 1;
  }
}

/** Whether the bytes of `chunks` go on after `half`, the first byte of a sample. Silence does not tell. */
export function alignmentAfter(half: number, chunks: readonly Uint8Array[]): SampleAlignment {
  const roughness = new SampleRoughness(half);
  for (const chunk of chunks) roughness.read(chunk);
  const [continued = 0, anew = 0] = roughness.sums;
  if (continued <= LEAST && anew <= LEAST) return 'unknown';
  return continued > FACTOR * anew + LEAST ? 'anew' : 'continues';
}
