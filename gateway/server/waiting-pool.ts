/**
 * The pool of requests and sockets that wait for their client to send, to read or to authenticate. Waiting takes no
 * work but holds memory and a connection, so it is bounded per address and in total. Beyond a bound the oldest wait is
 * evicted: of the same address, or of the address with the most waits, so that a flooding address harms only itself.
 * If the newest can be refused instead (`hasRoom`), the oldest keeps its place for `graceMs`; otherwise a series of
 * newcomers could evict each wait as soon as it has begun.
 */
import type { Clock } from '../../contracts/clock.js';
import { networkOf } from './client-address.js';

export interface WaitingLimits {
  readonly perAddress: number;
  readonly total: number;
  readonly graceMs: number;
}

interface Wait {
  readonly since: number;
  evict(): void;
}

type Holder = readonly [network: string, waits: Set<Wait>];

export class WaitingPool {
  readonly #held = new Map<string, Set<Wait>>();
  #size = 0;

  constructor(
    private readonly limits: WaitingLimits,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  get size(): number {
    return this.#size;
  }

  /** Whether another wait of that address has room, or makes some by ending one that has had its time. */
  hasRoom(address: string): boolean {
    const [oldest] = this.#tooMuch(networkOf(address))?.[1] ?? [];
    return !oldest || this.clock.monotonic() - oldest.since >= this.limits.graceMs;
  }

  /** Begins a wait; the result ends it. `evict` is called once if the pool has to end it. */
  enter(address: string, evict: () => void): () => void {
    const network = networkOf(address);
    const full = this.#tooMuch(network);
    if (full) this.#evict(full);
    const wait: Wait = { since: this.clock.monotonic(), evict };
    const own = this.#held.get(network) ?? new Set();
    this.#held.set(network, own.add(wait));
    this.#size += 1;
    return () => this.#leave(network, wait);
  }

  /** The holder whose oldest wait must end to admit another one of `network`; undefined if there is room. */
  #tooMuch(network: string): Holder | undefined {
    const own = this.#held.get(network);
    if (own && own.size >= this.limits.perAddress) return [network, own];
    return this.#size >= this.limits.total ? this.#largest() : undefined;
  }

  #largest(): Holder | undefined {
    let largest: Holder | undefined;
    for (const holder of this.#held) if (holder[1].size > (largest?.[1].size ?? 0)) largest = holder;
    return largest;
  }

  #evict([network, waits]: Holder): void {
    const [oldest] = waits;
    if (!oldest) return;
    this.#leave(network, oldest);
    oldest.evict();
  }

  #leave(network: string, wait: Wait): void {
    const own = this.#held.get(network);
    if (!own?.delete(wait)) return;
    this.#size -= 1;
    if (own.size === 0) this.#held.delete(network);
  }
}
