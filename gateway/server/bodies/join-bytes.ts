/** Joins chunks that may have a hundred megabytes in all, without blocking the event loop for that long. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes copied per turn of the event loop. */
const SLICE_BYTES = 2 * 1024 * 1024;

/** The chunks in one piece; `length`: bytes in all. A single chunk is returned without a copy. */
export async function joinBytes(chunks: readonly Uint8Array[], length: number): Promise<Uint8Array> {
  if (chunks.length === 1 && chunks[0]) return chunks[0];
  const whole = Buffer.allocUnsafe(length);
  let at = 0;
  let turn = SLICE_BYTES;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
    if (at < turn) continue;
    turn = at + SLICE_BYTES;
    await nextTurn();
  }
  return whole;
}
