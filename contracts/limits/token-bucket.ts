/** A rate limit: `burst` times at once, and `perSecond` times in the long run. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** A token bucket: holds a client to a rate. */
export class TokenBucket {
  #left: number;
  #since: number;

  /** `now`: milliseconds, monotonic. */
  constructor(
    private readonly rate: Rate,
    private readonly now: () => number,
  ) {
    this.#left = rate.burst;
    this.#since = now();
  }

  /** Takes one token; false if none is left. */
  take(): boolean {
    const { burst, perSecond } = this.rate;
    const now = this.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#since) / 1000) * perSecond);
    this.#since = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
