/**
 * One workspace's usage that is not in the store yet, and what is left of its quotas: the store's last answer minus the
 * usage counted since, so only a workspace's first job waits for the store.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError, whyOf } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { UsageKind, UsageStore } from '../../contracts/ports/accounts/identity.js';
import { waitUpTo } from '../../contracts/time/timeouts.js';
import { ANSWER_MS } from './slot-lease.js';

export interface LedgerParts {
  readonly usage: UsageStore;
  readonly clock: Clock;
  readonly log: Log;
}

export type Entry = Parameters<UsageStore['addUsage']>[0][number];

const ASK_AGAIN_MS = 10_000;
const FORGET_MS = 600_000;

export class UsageAccount {
  /** Kinds without a quota are absent. */
  #left: Partial<Record<UsageKind, number>> | undefined;
  readonly #unwritten = new Map<UsageKind, number>();
  /** Times of the last quota request and of the last job. */
  #asked = 0;
  #seen = 0;
  #asking: Promise<void> | undefined;

  constructor(
    private readonly workspaceId: string,
    private readonly parts: LedgerParts,
  ) {}

  /** Whether no job has come for a while and everything is written: then the account can be forgotten. */
  get isIdle(): boolean {
    return this.#unwritten.size === 0 && !this.#asking && this.#now - this.#seen > FORGET_MS;
  }

  /** Whether quotas were last requested a while ago and a job has come since. */
  get isDue(): boolean {
    return this.#seen > this.#asked && this.#now - this.#asked > ASK_AGAIN_MS;
  }

  get unwritten(): readonly Entry[] {
    const { workspaceId } = this;
    return [...this.#unwritten].map(([kind, amount]) => ({ workspaceId, kind, amount }));
  }

  /** Errors: as `Ledger.admit`. */
  async admit(kind: UsageKind | undefined): Promise<void> {
    this.#seen = this.#now;
    if (!this.#left) await waitUpTo(this.parts.clock, ANSWER_MS, this.ask());
    const left = this.#left;
    if (!left)
      throw new ServiceError('overloaded', {
        message: 'The server cannot reach its database, try again',
        retryAfter: 1,
      });
    const spent = kind ? (left[kind] ?? 1) <= 0 : Object.values(left).some((amount) => amount <= 0);
    if (spent) throw new ServiceError('quota_exceeded');
  }

  count(kind: UsageKind, amount: number): void {
    this.#seen = this.#now;
    this.#unwritten.set(kind, (this.#unwritten.get(kind) ?? 0) + amount);
    if (this.#left?.[kind] !== undefined) this.#left[kind] -= amount;
  }

  /** Removes usage that the store now has. */
  written({ kind, amount }: Entry): void {
    const rest = (this.#unwritten.get(kind) ?? 0) - amount;
    if (rest > 0) this.#unwritten.set(kind, rest);
    else this.#unwritten.delete(kind);
  }

  /** Requests what is left of the quotas, or joins a running request. Never rejects. */
  ask(): Promise<void> {
    this.#asking ??= this.#askNow().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** Takes the store's answer, minus usage that is not written yet. */
  async #askNow(): Promise<void> {
    const { workspaceId } = this;
    try {
      const left = { ...(await this.parts.usage.remaining(workspaceId)) };
      for (const [kind, amount] of this.#unwritten) if (left[kind] !== undefined) left[kind] -= amount;
      this.#left = left;
      this.#asked = this.#now;
    } catch (error) {
      this.parts.log.warn({ workspaceId, ...whyOf(error) }, 'quota could not be read');
    }
  }

  get #now(): number {
    return this.parts.clock.monotonic();
  }
}
