/**
 * Compares a question with all vectors of some sources, on a thread of its own. Vectors are kept in bytes, each with its scale:
 * a quarter of the memory, and no other order of the nearest ones worth mentioning.
 */
import { parentPort } from 'node:worker_threads';
import type { ExactResult, ExactTask, Near } from './exact.js';

interface Kept {
  readonly positions: readonly number[];
  readonly dimensions: number;
  readonly values: Int8Array;
  readonly scales: Float32Array;
}

const kept = new Map<string, Kept>();

/** `array_send` of Postgres: five numbers, then each value behind its length; all big-endian. */
const HEAD_BYTES = 20;
const VALUE_BYTES = 8;
const MOST_OF_A_BYTE = 127;

function readVector(bytes: Uint8Array, into: Int8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = Float32Array.from(into, (_, index) => view.getFloat32(HEAD_BYTES + index * VALUE_BYTES + 4));
  const most = values.reduce((so, value) => Math.max(so, Math.abs(value)), 0) || 1;
  values.forEach((value, index) => (into[index] = Math.round((value / most) * MOST_OF_A_BYTE)));
  return most / MOST_OF_A_BYTE;
}

const dimensionsOf = ({ byteLength }: Uint8Array): number => (byteLength - HEAD_BYTES) / VALUE_BYTES;

function keep({ key, positions, vectors }: Extract<ExactTask, { kind: 'keep' }>): void {
  const dimensions = vectors[0] ? dimensionsOf(vectors[0]) : 0;
  const values = new Int8Array(dimensions * vectors.length);
  const scales = new Float32Array(vectors.length);
  vectors.forEach((bytes, index) => {
    // Of another length than the first: nothing is near to it.
    if (dimensionsOf(bytes) !== dimensions) return;
    scales[index] = readVector(bytes, values.subarray(index * dimensions, (index + 1) * dimensions));
  });
  kept.set(key, { positions, dimensions, values, scales });
}

/** Keeps the list sorted, the nearest first, and no longer than `most`. */
function insert(nearest: Near[], near: Near, most: number): void {
  if (nearest.length === most && near.rank <= (nearest.at(-1)?.rank ?? 0)) return;
  const at = nearest.findIndex(({ rank }) => rank < near.rank);
  nearest.splice(at < 0 ? nearest.length : at, 0, near);
  if (nearest.length > most) nearest.pop();
}

function compare(
  key: string,
  { positions, dimensions, values, scales }: Kept,
  query: Float32Array,
  add: (near: Near) => void,
): void {
  positions.forEach((position, index) => {
    let sum = 0;
    for (let at = 0, from = index * dimensions; at < dimensions; at += 1)
      sum += (values[from + at] ?? 0) * (query[at] ?? 0);
    add({ key, position, rank: sum * (scales[index] ?? 0) });
  });
}

function search({ id, keys, query, most }: Extract<ExactTask, { kind: 'search' }>): ExactResult {
  const nearest: Near[] = [];
  for (const key of keys) {
    const source = kept.get(key);
    if (source?.dimensions === query.length)
      compare(key, source, query, (near) => insert(nearest, near, most));
  }
  return { id, nearest };
}

parentPort?.on('message', (task: ExactTask) => {
  if (task.kind === 'keep') keep(task);
  else if (task.kind === 'drop') kept.delete(task.key);
  else parentPort?.postMessage(search(task));
});
