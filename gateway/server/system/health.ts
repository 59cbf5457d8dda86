/**
 * Whether this gateway can serve (`/health`). `live` is true whenever the process answers at all;
 * `ready` is true once every check has passed and until draining begins.
 */
import { type Clock, systemClock } from '../../../contracts/clock.js';

/** Health counts as watched for this long after a request; balancers ask every few seconds. */
const WATCHED_MS = 60_000;

export interface HealthReport {
  /** `degraded`: has started, and something has failed. */
  readonly status: 'ok' | 'starting' | 'degraded' | 'draining';
  readonly ready: boolean;
  readonly live: true;
  readonly checks: Readonly<Record<string, boolean>>;
}

export class Health {
  readonly #checks = new Map<string, boolean>();
  #draining = false;
  #started = false;
  #start: () => void = () => undefined;
  /** Resolves when every check has passed once. */
  readonly started = new Promise<void>((resolve) => (this.#start = resolve));
  #askedAt = -Infinity;

  /** `names`: checks for which a start waits; all others that are reported must pass as well. */
  constructor(
    private readonly names: readonly string[],
    private readonly clock: Clock = systemClock,
  ) {
    for (const name of names) this.#checks.set(name, false);
  }

  /** Reports one check; it may fail again later. */
  set(name: string, passed: boolean): void {
    this.#checks.set(name, passed);
    this.#started ||= this.names.every((each) => this.#checks.get(each));
    if (this.#started) this.#start();
  }

  drain(): void {
    this.#draining = true;
  }

  /** Whether health was requested within the last minute. */
  get isWatched(): boolean {
    return this.clock.monotonic() - this.#askedAt < WATCHED_MS;
  }

  /** The reply to a health request, which it also records. */
  report(): HealthReport {
    this.#askedAt = this.clock.monotonic();
    const ready = !this.#draining && this.#passes;
    const unready = this.#started ? 'degraded' : 'starting';
    const status = this.#draining ? 'draining' : ready ? 'ok' : unready;
    return { status, ready, live: true, checks: Object.fromEntries(this.#checks) };
  }

  get #passes(): boolean {
    return [...this.#checks.values()].every(Boolean);
  }
}
