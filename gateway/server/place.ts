/**
 * How one running request is counted. Requests of known callers have their own limit, which nobody without a key can use
 * up; a request that waits for its client counts as neither and is bounded separately (waiting-pool.ts).
 */
import type { Load, Standing } from './load.js';
import type { WaitingPool } from './waiting-pool.js';

export interface Waiter {
  readonly clientAddress: string;
  /** Called when there is no room for its wait any more. */
  evict(): void;
}

export interface Pools {
  readonly waiting: WaitingPool;
  /** Answered requests whose bodies still arrive (unread-body.ts): apart, so that no refusal costs another request its place. */
  readonly lingering: WaitingPool;
}

export class RequestPlace {
  #standing: Standing = 'unauthenticated';
  #stopWaiting: (() => void) | undefined;
  #left = false;

  constructor(
    private readonly load: Load,
    private readonly pools: Pools,
    private readonly waiter: Waiter,
  ) {
    load.underWay[this.#standing] += 1;
  }

  authenticated(): void {
    if (this.#left) return;
    const waits = this.#stopWaiting !== undefined;
    this.#move(() => (this.#standing = 'authenticated'));
    if (waits) this.goesOn();
  }

  /** The request waits for its client now. A known caller keeps its room for that, but not once it is `answered`. */
  waits(answered = false): void {
    if (this.#left || this.#stopWaiting || (this.#standing === 'authenticated' && !answered)) return;
    this.load.underWay[this.#standing] -= 1;
    this.#enter(this.pools.waiting);
  }

  /** The request is answered, and only drops the rest of its body. */
  lingers(): void {
    this.goesOn();
    if (this.#left) return;
    this.load.underWay[this.#standing] -= 1;
    this.#enter(this.pools.lingering);
  }

  goesOn(): void {
    if (this.#left || !this.#stopWaiting) return;
    this.#stopWaiting();
    this.#stopWaiting = undefined;
    this.load.underWay[this.#standing] += 1;
  }

  leave(): void {
    if (this.#left) return;
    if (this.#stopWaiting) this.#stopWaiting();
    else this.load.underWay[this.#standing] -= 1;
    this.#left = true;
  }

  #enter(pool: WaitingPool): void {
    this.#stopWaiting = pool.enter(this.waiter.clientAddress, () => this.waiter.evict());
  }

  #move(change: () => void): void {
    if (!this.#stopWaiting) this.load.underWay[this.#standing] -= 1;
    change();
    if (!this.#stopWaiting) this.load.underWay[this.#standing] += 1;
  }
}
