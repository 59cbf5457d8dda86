/**
 * Load shedding: above a threshold new requests get 503 `overloaded` before any work is done for them, so that running
 * requests keep their latency. Thresholds: the event loop's delay, and the requests in flight (known callers and others
 * counted separately, place.ts). What waits behind the gateway has its own admission, by workspace (contracts/admission).
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';

/** Whether a request's caller is known; each standing has its own limit (place.ts). */
export type Standing = 'unauthenticated' | 'authenticated';

export interface LoadThresholds {
  /** Mean delay of the event loop over the last SAMPLE_MS, in milliseconds. */
  readonly loopDelayMs: number;
  /** Running requests, for each standing. */
  readonly inFlight: number;
  /** Sent as Retry-After. */
  readonly retryAfterSeconds: number;
}

export const LOAD: LoadThresholds = {
  loopDelayMs: LIMITS.http.shedDelayMs,
  inFlight: 2000,
  retryAfterSeconds: 5,
};

const SAMPLE_MS = 500;
const RESOLUTION_MS = 10;
/** Share of the time: less of it cannot delay the loop by 5 ms on average. */
const BUSY = 0.25;
const LATE_MS = 20;

export interface LoopDelay {
  /** Mean delay since the last call, in milliseconds; 0 where it is too small to matter. */
  sample(): number;
  stop(): void;
}

/**
 * A loop that is idle for most of the time has no delay worth measuring, and measuring wakes a process once in RESOLUTION_MS. So it is
 * done only after a sample's time in which the loop was BUSY, or whose own timer was late, as on a machine that has no time for the process.
 */
export function measureLoopDelay(): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let before = performance.eventLoopUtilization();
  let due = Infinity;
  return {
    sample() {
      const delay = histogram.mean / 1e6 - RESOLUTION_MS;
      const { utilization } = performance.eventLoopUtilization(before);
      const now = performance.now();
      histogram.reset();
      if (utilization > BUSY || now > due) histogram.enable();
      else histogram.disable();
      before = performance.eventLoopUtilization();
      due = now + SAMPLE_MS + LATE_MS;
      return Number.isNaN(delay) ? 0 : Math.max(0, delay);
    },
    stop: () => void histogram.disable(),
  };
}

export interface LoadOptions {
  readonly thresholds?: Partial<LoadThresholds>;
  /** Replaces the measurement, in tests. */
  readonly loopDelay?: LoopDelay;
}

export class Load {
  readonly thresholds: LoadThresholds;
  readonly underWay: Record<Standing, number> = { unauthenticated: 0, authenticated: 0 };
  loopDelayMs = 0;
  readonly #loopDelay: LoopDelay;
  #cancel: () => void = () => undefined;

  constructor(
    private readonly clock: Clock,
    options: LoadOptions = {},
  ) {
    this.thresholds = { ...LOAD, ...options.thresholds };
    this.#loopDelay = options.loopDelay ?? measureLoopDelay();
    this.#sample();
  }

  get overloaded(): boolean {
    return this.loopDelayMs > this.thresholds.loopDelayMs || this.full;
  }

  /** Whether as many requests are under way as memory is meant for. */
  get full(): boolean {
    const { unauthenticated, authenticated } = this.underWay;
    return Math.max(unauthenticated, authenticated) >= this.thresholds.inFlight;
  }

  stop(): void {
    this.#cancel();
    this.#loopDelay.stop();
  }

  #sample(): void {
    this.loopDelayMs = this.#loopDelay.sample();
    this.#cancel = this.clock.after(SAMPLE_MS, () => this.#sample());
  }
}
