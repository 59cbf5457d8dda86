/**
 * The last hour of a process, minute by minute: replies, refusals, failures and latencies. Counted in addition to the
 * metrics, in a bounded amount of memory; `summed` adds up several processes.
 */
import type { Clock } from '../../../contracts/clock.js';

/** Upper bounds of the buckets of all latencies, in seconds. */
export const LATENCY_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 15, 60, 300,
];

const MINUTES = 60;
const MINUTE_MS = 60_000;
/** Most kinds of errors per minute. Routes, methods and statuses are bounded, and few combinations occur. */
const MOST_KINDS = 200;

/** Counts by bucket; the last bucket counts everything slower. */
type Buckets = number[];

export interface HistoryMinute {
  /** Minutes since the epoch. */
  readonly minute: number;
  replies: number;
  /** By `METHOD route status`. */
  readonly errors: Record<string, number>;
  /** From a request to the first byte of its reply. */
  readonly firstByte: Buckets;
  /** From the end of a user's turn to the first audio of its answer. */
  readonly turn: Buckets;
}

export interface FinishedRequest {
  /** The route's pattern. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  /** Seconds. */
  readonly firstByte: number | undefined;
}

/** Pages and maintenance routes, which are not counted as work. */
const OWN = /^\/((console|docs|health|metrics|openapi\.json|nodes|v1\/machine|widget(-call)?\.js)(\/|$)|$)/;

const minuteOf = (now: number): number => Math.floor(now / MINUTE_MS);
const noBuckets = (): Buckets => [...LATENCY_BOUNDS, Infinity].map(() => 0);
const emptyMinute = (minute: number): HistoryMinute => ({
  minute,
  replies: 0,
  errors: {},
  firstByte: noBuckets(),
  turn: noBuckets(),
});

function addTo(buckets: Buckets, seconds: number): void {
  const found = LATENCY_BOUNDS.findIndex((bound) => seconds <= bound);
  const at = found < 0 ? LATENCY_BOUNDS.length : found;
  buckets[at] = (buckets[at] ?? 0) + 1;
}

function count(errors: HistoryMinute['errors'], kind: string, more = 1): void {
  if (Object.hasOwn(errors, kind) || Object.keys(errors).length < MOST_KINDS)
    errors[kind] = (errors[kind] ?? 0) + more;
}

export class History {
  #minutes: readonly HistoryMinute[] = [];

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  finished({ route, method, status, firstByte }: FinishedRequest): void {
    if (OWN.test(route)) return;
    const minute = this.#current();
    minute.replies += 1;
    if (status >= 400) count(minute.errors, `${method} ${route} ${status}`);
    if (firstByte !== undefined) addTo(minute.firstByte, firstByte);
  }

  turn(seconds: number): void {
    addTo(this.#current().turn, seconds);
  }

  /** Oldest first; minutes without any event are missing. */
  read(): readonly HistoryMinute[] {
    const oldest = minuteOf(this.clock.now()) - MINUTES;
    return this.#minutes.filter(({ minute }) => minute > oldest);
  }

  #current(): HistoryMinute {
    const now = minuteOf(this.clock.now());
    const last = this.#minutes.at(-1);
    if (last && last.minute >= now) return last;
    const next = emptyMinute(now);
    this.#minutes = [...this.read(), next];
    return next;
  }
}

function add(sum: HistoryMinute, { replies, errors, firstByte, turn }: HistoryMinute): void {
  sum.replies += replies;
  for (const [kind, more] of Object.entries(errors)) count(sum.errors, kind, more);
  for (const [at, more] of firstByte.entries()) sum.firstByte[at] = (sum.firstByte[at] ?? 0) + more;
  for (const [at, more] of turn.entries()) sum.turn[at] = (sum.turn[at] ?? 0) + more;
}

/** Each of the last sixty minutes, oldest first, summed over all these processes. */
export function summed(
  processes: readonly (readonly HistoryMinute[])[],
  now: number,
): readonly HistoryMinute[] {
  const first = minuteOf(now) - MINUTES + 1;
  const sums = Array.from({ length: MINUTES }, (_, index) => emptyMinute(first + index));
  for (const minute of processes.flat()) {
    const sum = sums[minute.minute - first];
    if (sum) add(sum, minute);
  }
  return sums;
}

/** The quantile in seconds, interpolated within its bucket as Prometheus does; null if there are no values. `part`: 0 to 1. */
export function quantile(buckets: readonly number[], part: number): number | null {
  const rank = buckets.reduce((sum, each) => sum + each, 0) * part;
  let below = 0;
  for (const [at, each] of buckets.entries()) {
    if (each > 0 && below + each >= rank) {
      const low = LATENCY_BOUNDS[at - 1] ?? 0;
      return low + ((LATENCY_BOUNDS[at] ?? low) - low) * ((rank - below) / each);
    }
    below += each;
  }
  return null;
}
