/**
 * Whether this gateway can serve (`/health`). `live` is true whenever the process answers at all;
 * `ready` is true once every check has passed and until draining begins.
 */
import { type Clock, systemClock } from '../../../contracts/clock.js';
import { type Log, silentLog } from '../../../contracts/log.js';
import type { Metrics } from './metrics.js';

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
  #said: HealthReport['status'] = 'starting';
  #saidAt: number;

  /** `names`: checks for which a start waits; all others that are reported must pass as well. */
  constructor(
    private readonly names: readonly string[],
    private readonly clock: Clock = systemClock,
    private readonly log: Log = silentLog,
  ) {
    this.#saidAt = clock.monotonic();
    for (const name of names) this.#checks.set(name, false);
  }

  /** Reports one check; it may fail again later. */
  set(name: string, passed: boolean): void {
    this.#checks.set(name, passed);
    this.#started ||= this.names.every((each) => this.#checks.get(each));
    if (this.#started) this.#start();
    this.#say();
  }

  /** Of something that is gone, as the operator wanted. */
  forget(name: string): void {
    if (this.#checks.delete(name)) this.#say();
  }

  drain(): void {
    this.#draining = true;
    this.#say();
  }

  /** Whether health was requested within the last minute. */
  get isWatched(): boolean {
    return this.clock.monotonic() - this.#askedAt < WATCHED_MS;
  }

  /** The reply to a health request, which it also records. */
  report(): HealthReport {
    this.#askedAt = this.clock.monotonic();
    const status = this.#status;
    return { status, ready: status === 'ok', live: true, checks: Object.fromEntries(this.#checks) };
  }

  addTo(metrics: Metrics): void {
    const help = 'Whether something fails without which a gateway is not ready';
    const failing = () =>
      [...this.#checks].map(([check, passes]) => ({ labels: { check }, value: Number(!passes) }));
    metrics.gauge('check_failing', help, failing, ['check'], 'max');
  }

  get #status(): HealthReport['status'] {
    if (this.#draining) return 'draining';
    if (this.#passes) return 'ok';
    return this.#started ? 'degraded' : 'starting';
  }

  /** One line when it is not ready any more, and one when it is again. */
  #say(): void {
    const [before, now] = [this.#said, this.#status];
    if (before === now) return;
    this.#said = now;
    const at = this.clock.monotonic();
    const seconds = Math.round((at - this.#saidAt) / 1000);
    this.#saidAt = at;
    const failed = [...this.#checks].filter(([, passes]) => !passes).map(([name]) => name);
    if (now === 'degraded') this.log.error({ failed }, `not ready: ${failed.join(', ')}`);
    else if (now === 'ok' && before === 'degraded') this.log.info({ seconds }, 'ready again');
  }

  get #passes(): boolean {
    return [...this.#checks.values()].every(Boolean);
  }
}
