/**
 * A cache of keys by their digests, known and unknown ones. Two bounded caches, so that unknown keys never evict
 * known ones; callers check the expiry. A known key needs no look-up for a minute, and is used for up to ten
 * while look-ups fail.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../contracts/clock.js';
import type { Identity } from '../../contracts/ports/accounts/identity.js';
import type { NotifyListener } from '../postgres/events.js';

/** A key's identity, and its expiry. */
export interface KeyHolder extends Identity {
  /** Null if it does not expire. */
  readonly expiresAt: Date | null;
}

interface Known {
  readonly caller: KeyHolder;
  readonly freshUntil: number;
}

const CACHED = 10_000;
const FRESH_MS = 60_000;
const STALE_MS = 600_000;
const UNKNOWN_MS = 5000;

export class KnownKeys implements NotifyListener {
  readonly #known: LRUCache<string, Known>;
  readonly #unknown: LRUCache<string, true>;
  /** Counts announcements: answers older than the last one are not cached. */
  #announcements = 0;

  constructor(private readonly clock: Clock) {
    const timed = { max: CACHED, ttlResolution: 0, perf: { now: () => clock.monotonic() } };
    this.#known = new LRUCache({ ...timed, ttl: STALE_MS });
    this.#unknown = new LRUCache({ ...timed, ttl: UNKNOWN_MS });
  }

  /** Undefined if it must be looked up. */
  answer(digest: string): { readonly caller: KeyHolder | undefined } | undefined {
    const known = this.#known.get(digest);
    if (known && this.clock.monotonic() < known.freshUntil) return known;
    return this.#unknown.has(digest) ? { caller: undefined } : undefined;
  }

  /** The caller as known within the last ten minutes. */
  stale(digest: string): KeyHolder | undefined {
    return this.#known.get(digest)?.caller;
  }

  /** Looks a key up and caches the result. */
  async learn(digest: string, lookUp: () => Promise<KeyHolder | undefined>): Promise<KeyHolder | undefined> {
    const announcements = this.#announcements;
    const caller = await lookUp();
    if (announcements === this.#announcements) this.#keep(digest, caller);
    return caller;
  }

  heard(keyId: string): void {
    this.#announcements++;
    this.#unknown.clear();
    for (const [digest, { caller }] of this.#known.entries())
      if (caller.keyId === keyId) this.#known.delete(digest);
  }

  missed(): void {
    this.#announcements++;
    this.#unknown.clear();
    this.#known.clear();
  }

  #keep(digest: string, caller: KeyHolder | undefined): void {
    if (caller) this.#known.set(digest, { caller, freshUntil: this.clock.monotonic() + FRESH_MS });
    else {
      this.#known.delete(digest);
      this.#unknown.set(digest, true);
    }
  }
}
