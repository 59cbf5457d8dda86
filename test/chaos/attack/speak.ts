/** One short sentence spoken, and how long that took. */
import { answerOf } from './senders.js';

/** Longer than any answer of a gateway that serves. */
const LATE_MS = 20_000;

export interface Asked {
  /** A status, or how the connection failed. */
  readonly told: number | string;
  readonly ms: number;
}

export const speak = async (base: string, key: string, text = 'Good morning.'): Promise<Asked> => {
  const from = performance.now();
  const told = await answerOf(`${base}/v1/tts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text, format: 'pcm' }),
    signal: AbortSignal.timeout(LATE_MS),
  });
  return { told, ms: performance.now() - from };
};

export function p95(asked: readonly Asked[]): number {
  const sorted = asked.map(({ ms }) => ms).sort((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
}
