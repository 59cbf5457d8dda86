/** Draws sound: the loudness of each moment. */

/** The lowest rate in Hz that every browser decodes to: enough for a picture, in a sixth of the memory. */
const RATE = 8000;

/** The loudest sample, 0 to 1, of each of `count` equal parts. */
export function peaksOf(samples: Float32Array, count: number): readonly number[] {
  const size = samples.length / count;
  return Array.from({ length: count }, (_, index) => {
    let loudest = 0;
    const end = Math.min(samples.length, Math.floor((index + 1) * size));
    for (let at = Math.floor(index * size); at < end; at += 1)
      loudest = Math.max(loudest, Math.abs(samples[at] ?? 0));
    return loudest;
  });
}

/** Decodes a file to samples of one channel, by default at a low rate. Errors: those of the browser if it cannot decode the file. */
export async function decode(
  file: ArrayBuffer,
  rate = RATE,
): Promise<{ readonly samples: Float32Array; readonly seconds: number }> {
  const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(file);
  return { samples: sound.getChannelData(0), seconds: sound.duration };
}

/** An outline in a box of 1000 by `height`, from `left` over `width`. Quiet sound is drawn louder than it is. */
export function outline(peaks: readonly number[], { left = 0, width = 1000, top = 0, height = 100 }): string {
  const middle = top + height / 2;
  const step = width / Math.max(1, peaks.length);
  const point = (peak: number, index: number, side: number) =>
    `${(left + index * step).toFixed(1)},${(middle + side * Math.max(0.6, Math.sqrt(peak) * (height / 2))).toFixed(1)}`;
  const upper = peaks.map((peak, index) => point(peak, index, -1));
  const lower = peaks.map((peak, index) => point(peak, index, 1)).reverse();
  return peaks.length === 0 ? '' : `M${upper.join('L')}L${lower.join('L')}Z`;
}
