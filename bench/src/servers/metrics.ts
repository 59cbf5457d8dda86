/** Reads a gateway's /metrics. */
import type { Server } from './server.js';

/** The sum of a metric's samples whose labels hold `labels`; NaN where there is none. */
export function sumOf(text: string, name: string, labels = ''): number {
  const values = text
    .split('\n')
    .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(labels))
    .map((line) => Number(line.split(' ').at(-1)));
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0);
}

export const readMetrics = async ({ origin }: Pick<Server, 'origin'>): Promise<string> =>
  (await fetch(`${origin}/metrics`)).text();

/** Milliseconds by which the event loop was held up, longest and at the 99th percentile, since somebody looked last. */
export async function readLoop(server: Pick<Server, 'origin'>): Promise<{ max: number; p99: number }> {
  const text = await readMetrics(server);
  const told = (of: string): number => sumOf(text, `nodejs_eventloop_lag_${of}_seconds`) * 1000;
  return { max: told('max'), p99: told('p99') };
}
