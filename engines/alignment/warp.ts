/**
 * Dynamic time warping: the monotonic path along which two sequences of features differ least, within a
 * band around the diagonal. Memory: two rows of costs, and a byte for each cell of the band.
 */
import { COEFFICIENTS, type Features } from './features.js';

/** Half the band's width: a quarter of the longer side, at least this many frames. */
const LEAST_BAND = 60;
const BAND_SHARE = 0.25;

const BOTH = 0;
const ONLY_REFERENCE = 1;
const ONLY_HEARD = 2;

/** For each frame of the reference, the first and last frame of the other sequence that it maps to. */
export interface Path {
  readonly first: Int32Array;
  readonly last: Int32Array;
}

function distance(left: Float32Array, at: number, right: Float32Array, to: number): number {
  let sum = 0;
  for (let index = 0; index < COEFFICIENTS; index++) {
    const difference = left[at + index]! - right[to + index]!;
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}

interface Band {
  readonly width: number;
  /** The first column of a row that lies in the band. */
  from(row: number): number;
}

function bandOf(rows: number, columns: number): Band {
  const half = Math.max(LEAST_BAND, Math.ceil(BAND_SHARE * Math.max(rows, columns)));
  const width = Math.min(columns, 2 * half + 1);
  const from = (row: number): number => {
    const centre = Math.round((row * columns) / rows);
    return Math.max(0, Math.min(columns - width, centre - half));
  };
  return { width, from };
}

/** The step into each cell of the band. */
function stepsOf(reference: Features, heard: Features, band: Band): Uint8Array {
  const columns = heard.frames;
  const steps = new Uint8Array(reference.frames * band.width);
  let above = new Float64Array(columns + 1).fill(Infinity);
  let costs = new Float64Array(columns + 1);
  // Column 0 of the costs stands before the first frame: only the first row can begin there.
  above[0] = 0;
  for (let row = 0; row < reference.frames; row++) {
    const from = band.from(row);
    costs.fill(Infinity);
    for (let column = from; column < from + band.width; column++) {
      const options = [above[column]!, above[column + 1]!, costs[column]!] as const;
      let best = BOTH;
      if (options[ONLY_REFERENCE] < options[best]!) best = ONLY_REFERENCE;
      if (options[ONLY_HEARD] < options[best]!) best = ONLY_HEARD;
      const apart = distance(reference.values, row * COEFFICIENTS, heard.values, column * COEFFICIENTS);
      costs[column + 1] = options[best]! + apart;
      steps[row * band.width + column - from] = best;
    }
    [above, costs] = [costs, above];
  }
  return steps;
}

/** Dynamic time warping: the frame of `heard` for each frame of `reference`; undefined if either is empty. */
export function warp(reference: Features, heard: Features): Path | undefined {
  if (reference.frames === 0 || heard.frames === 0) return undefined;
  const band = bandOf(reference.frames, heard.frames);
  const steps = stepsOf(reference, heard, band);
  const first = new Int32Array(reference.frames);
  const last = new Int32Array(reference.frames).fill(-1);
  let [row, column] = [reference.frames - 1, heard.frames - 1];
  while (row >= 0 && column >= 0) {
    first[row] = column;
    if (last[row] === -1) last[row] = column;
    const step = steps[row * band.width + column - band.from(row)];
    if (step !== ONLY_HEARD) row -= 1;
    if (step !== ONLY_REFERENCE) column -= 1;
  }
  return { first, last };
}
