/**
 * Whether this gateway can serve (`/health`). `live` is true whenever the process answers at all;
 * `ready` is true once every check has passed and until draining begins.
 */
import { type Clock, systemClock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { type Log, silentLog } from '../../../contracts/log.js';
import type { Metrics } from './metrics.js';

/** Health counts as watched for this long after a request; balancers ask every few seconds. */
const WATCHED_MS = 60_000;

export interface HealthReport {
  /** `degraded`: has started, and something has failed. */
  readonly status: 'ok' | 'starting' | 'degraded' | 'draining';
  /** Has started, does not drain, and all checks pass but those that were excluded. */
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

  /**
   * The reply to a health request, which it also records. `excluded`: checks that end no readiness for who asks, such
   * as one that fails on all machines at once; a start waits for them all the same.
   * @throws ServiceError `invalid_request`: a name of no check.
   */
  report(excluded: readonly string[] = []): HealthReport {
    const unknown = excluded.find((name) => !this.#checks.has(name));
    if (unknown !== undefined) throw this.#unknown(unknown);
    this.#askedAt = this.clock.monotonic();
    const counted = this.#failed.filter((name) => !this.#started || !excluded.includes(name));
    const ready = !this.#draining && counted.length === 0;
    return { status: this.#status, ready, live: true, checks: Object.fromEntries(this.#checks) };
  }

  #unknown(name: string): ServiceError {
    const known = [...this.#checks.keys()].join(', ');
    const message = `exclude: ${name.slice(0, 64)} is no check; there are: ${known}`;
    return new ServiceError('invalid_request', { message, param: 'exclude' });
  }

  addTo(metrics: Metrics): void {
    const help = 'Whether something fails without which a gateway is not ready';
    const failing = () =>
      [...this.#checks].map(([check, passes]) => ({ labels: { check }, value: Number(!passes) }));
    metrics.gauge('check_failing', help, failing, ['check'], 'max');
  }

  get #status(): HealthReport['status'] {
    if (this.#draining) return 'draining';
    if (this.#failed.length === 0) return 'ok';
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
    const failed = this.#failed;
    if (now === 'degraded') this.log.error({ failed }, `not ready: ${failed.join(', ')}`);
    else if (now === 'ok' && before === 'degraded') this.log.info({ seconds }, 'ready again');
  }

  get #failed(): readonly string[] {
    return [...this.#checks].filter(([, passes]) => !passes).map(([name]) => name);
  }
}
