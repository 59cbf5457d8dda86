/** Helpers of all benchmarks: medians, a process's CPU and memory as the kernel counts them, a spoken request. */
import { readFileSync } from 'node:fs';
import { statOf } from '../test/fixtures/family.js';
import type { Gateway } from '../test/fixtures/gateway.js';

export const quantile = (values: readonly number[], q: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);

const TICKS_A_SECOND = 100;

/** CPU time of a process so far, user and system, in milliseconds (Linux). */
export function cpuMs(pid: number): number {
  const fields = statOf(pid) ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_A_SECOND;
}

/** Memory of a process in MB, shared pages counted in parts (PSS). */
export function memoryMb(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
}

export interface Timed {
  /** Milliseconds to the first body byte, and to the last. */
  readonly firstByte: number;
  readonly total: number;
  readonly bytes: number;
}

/** Posts JSON and reads the answer to its end. */
export async function timedPost(url: string, headers: Record<string, string>, body: unknown): Promise<Timed> {
  const start = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  let firstByte = 0;
  let bytes = 0;
  for await (const chunk of response.body) {
    firstByte ||= performance.now() - start;
    bytes += (chunk as Uint8Array).length;
  }
  return { firstByte, total: performance.now() - start, bytes };
}

export const speak = (gateway: Gateway, body: unknown): Promise<Timed> =>
  timedPost(`${gateway.base}/v1/tts`, gateway.authorization, body);

export const row = (name: string, value: number, unit: string, target?: string): void =>
  console.log(
    `${name.padEnd(62)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit}${target ? `   target ${target}` : ''}`,
  );
