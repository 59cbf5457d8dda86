/**
 * When requests are due, whatever the server does. An open load: a slow server does not slow the callers down, so that
 * what waits behind a stall is counted as waiting.
 */
import { randomFrom } from './random.js';

/** Rates are per second. A spike is at `peak` for `length` seconds from `at` on. */
export type Arrivals =
  | { readonly kind: 'constant'; readonly rate: number; readonly seconds: number }
  | { readonly kind: 'poisson'; readonly rate: number; readonly seconds: number; readonly seed: number }
  | { readonly kind: 'ramp'; readonly from: number; readonly to: number; readonly seconds: number }
  | {
      readonly kind: 'spike';
      readonly rate: number;
      readonly peak: number;
      readonly at: number;
      readonly length: number;
      readonly seconds: number;
    };

type Kind<K extends Arrivals['kind']> = Extract<Arrivals, { kind: K }>;

function* constant({ rate, seconds }: Kind<'constant'>): Generator<number> {
  for (let index = 0; index / rate < seconds; index += 1) yield index / rate;
}

function* poisson({ rate, seconds, seed }: Kind<'poisson'>): Generator<number> {
  const random = randomFrom(seed);
  const gap = (): number => -Math.log(1 - random()) / rate;
  for (let at = gap(); at < seconds; at += gap()) yield at;
}

/** By time t, `from · t + (to - from) · t² / (2 · seconds)` are due. */
function* ramp({ from, to, seconds }: Kind<'ramp'>): Generator<number> {
  const slope = (to - from) / seconds;
  const due = (count: number): number =>
    slope === 0 ? count / from : (Math.sqrt(from * from + 2 * slope * count) - from) / slope;
  const total = ((from + to) / 2) * seconds;
  for (let index = 0; index < total; index += 1) yield due(index);
}

function* spike({ rate, peak, at, length, seconds }: Kind<'spike'>): Generator<number> {
  yield* constant({ kind: 'constant', rate, seconds: at });
  for (const instant of constant({ kind: 'constant', rate: peak, seconds: length })) yield at + instant;
  const rest = seconds - at - length;
  for (const instant of constant({ kind: 'constant', rate, seconds: rest })) yield at + length + instant;
}

const KINDS: { readonly [K in Arrivals['kind']]: (arrivals: Kind<K>) => Generator<number> } = {
  constant,
  poisson,
  ramp,
  spike,
};

/** The instants, in milliseconds from the beginning, in order. */
export function* instants(arrivals: Arrivals): Generator<number> {
  const seconds = (KINDS[arrivals.kind] as (of: Arrivals) => Generator<number>)(arrivals);
  for (const instant of seconds) yield instant * 1000;
}
