/**
 * Compares a question with all vectors of some sources, on a thread of its own. Vectors are kept in bytes, each with its scale:
 * a quarter of the memory, and no other order of the nearest ones worth mentioning.
 */
import { parentPort } from 'node:worker_threads';
import type { ExactResult, ExactTask, Near } from './exact.js';

interface Page {
  readonly positions: readonly number[];
  readonly values: Int8Array;
  readonly scales: Float32Array;
}

interface Kept {
  readonly dimensions: number;
  readonly pages: Page[];
}

const kept = new Map<string, Kept>();

/** `array_send` of Postgres: five numbers, then each value behind its length; all big-endian. */
const HEAD_BYTES = 20;
const VALUE_BYTES = 8;
const MOST_OF_A_BYTE = 127;

/** Reads a vector from where its values begin, and returns its scale. */
function readVector(view: DataView, begin: number, into: Int8Array): number {
  const last = begin + into.length * VALUE_BYTES;
  let most = 0;
  for (let at = begin + 4; at < last; at += VALUE_BYTES) most = Math.max(most, Math.abs(view.getFloat32(at)));
  const scale = (most || 1) / MOST_OF_A_BYTE;
  for (let index = 0; index < into.length; index += 1)
    into[index] = Math.round(view.getFloat32(begin + index * VALUE_BYTES + 4) / scale);
  return scale;
}

function keep({ key, dimensions, positions, vectors }: Extract<ExactTask, { kind: 'keep' }>): void {
  const view = new DataView(vectors.buffer, vectors.byteOffset, vectors.byteLength);
  const values = new Int8Array(dimensions * positions.length);
  const bytes = HEAD_BYTES + dimensions * VALUE_BYTES;
  const scales = Float32Array.from(positions, (_, index) =>
    readVector(
      view,
      index * bytes + HEAD_BYTES,
      values.subarray(index * dimensions, (index + 1) * dimensions),
    ),
  );
  const source = kept.get(key) ?? { dimensions, pages: [] };
  source.pages.push({ positions, values, scales });
  kept.set(key, source);
}

/** Keeps the list sorted, the nearest first, and no longer than `most`. */
function insert(nearest: Near[], near: Near, most: number): void {
  if (nearest.length === most && near.rank <= (nearest.at(-1)?.rank ?? 0)) return;
  const at = nearest.findIndex(({ rank }) => rank < near.rank);
  nearest.splice(at < 0 ? nearest.length : at, 0, near);
  if (nearest.length > most) nearest.pop();
}

function compare(
  { positions, values, scales }: Page,
  query: Float32Array,
  add: (position: number, rank: number) => void,
): void {
  const { length: dimensions } = query;
  positions.forEach((position, index) => {
    let sum = 0;
    for (let at = 0, from = index * dimensions; at < dimensions; at += 1)
      sum += (values[from + at] ?? 0) * (query[at] ?? 0);
    add(position, sum * (scales[index] ?? 0));
  });
}

function search({ id, keys, query, most }: Extract<ExactTask, { kind: 'search' }>): ExactResult {
  const nearest: Near[] = [];
  for (const key of keys) {
    const source = kept.get(key);
    if (source?.dimensions !== query.length) continue;
    const add = (position: number, rank: number): void => insert(nearest, { key, position, rank }, most);
    for (const page of source.pages) compare(page, query, add);
  }
  return { id, nearest };
}

parentPort?.on('message', (task: ExactTask) => {
  if (task.kind === 'keep') keep(task);
  else if (task.kind === 'drop') kept.delete(task.key);
  else parentPort?.postMessage(search(task));
});
