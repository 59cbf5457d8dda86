/**
 * Whether this gateway can serve (`/health`). `live` is always true while the process answers at all;
 * `ready` is true once every check has passed and until draining begins.
 */
export interface HealthReport {
  readonly status: 'ok' | 'starting' | 'draining';
  readonly ready: boolean;
  readonly live: true;
  readonly checks: Readonly<Record<string, boolean>>;
}

export class Health {
  readonly #checks = new Map<string, boolean>();
  #draining = false;

  /** `names` are what must pass before the gateway is ready. */
  constructor(names: readonly string[]) {
    for (const name of names) this.#checks.set(name, false);
  }

  /** Reports one check; it may fail again later. */
  set(name: string, passed: boolean): void {
    this.#checks.set(name, passed);
  }

  drain(): void {
    this.#draining = true;
  }

  report(): HealthReport {
    const ready = !this.#draining && [...this.#checks.values()].every(Boolean);
    const status = this.#draining ? 'draining' : ready ? 'ok' : 'starting';
    return { status, ready, live: true, checks: Object.fromEntries(this.#checks) };
  }
}
