/**
 * Usage of jobs, and what is left of the quotas. Counted here, in one account per workspace (account.ts), and
 * written in batches.
 *
 * Invariant: an amount is either unwritten here or in the store, never dropped; a batch whose answer was
 * lost is written again, so usage may be counted twice but never missed. Processes learn of each
 * other's usage with a delay, so a quota may be overrun.
 */
import { whyOf } from '../../contracts/errors.js';
import type { UsageKind } from '../../contracts/ports/accounts/identity.js';
import { waitUpTo } from '../../contracts/time/timeouts.js';
import { UsageAccount, type Entry, type LedgerParts } from './account.js';

const WAIT_MS = 2000;
const LAST_ATTEMPTS = 10;
const LAST_PAUSE_MS = 500;

/** `admit`, `count` and `settle` need no `this`. */
export class UsageLedger {
  readonly #accounts = new Map<string, UsageAccount>();
  #settling: Promise<void> | undefined;

  constructor(private readonly parts: LedgerParts) {}

  /** Errors: `quota_exceeded`; `overloaded` if a workspace's quota could not be read yet. */
  readonly admit = (workspaceId: string, kind: UsageKind | undefined): Promise<void> =>
    this.#of(workspaceId).admit(kind);

  readonly count = (workspaceId: string, kind: UsageKind, counted: number): void => {
    const amount = Math.round(counted);
    if (amount > 0 && Number.isSafeInteger(amount)) this.#of(workspaceId).count(kind, amount);
  };

  /** Writes the counted usage, then requests again what is left. */
  readonly settle = (): Promise<void> => {
    this.#settling ??= this.#settleNow().finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  };

  /** Writes the remaining usage, trying for five seconds. */
  async stop(): Promise<void> {
    const { clock, log } = this.parts;
    if (this.#settling) await waitUpTo(clock, WAIT_MS, this.#settling);
    // Usage that is counted during the last write is written too.
    for (let attempt = 1; !(await this.#write()) || this.unwritten() > 0; attempt++) {
      if (attempt === LAST_ATTEMPTS)
        return log.error({ entries: this.unwritten() }, 'usage was lost: the database is away');
      await waitUpTo(clock, LAST_PAUSE_MS, new Promise(() => undefined));
    }
  }

  /** Entries that are not written yet. */
  unwritten(): number {
    return this.#batch().length;
  }

  #of(workspaceId: string): UsageAccount {
    const account = this.#accounts.get(workspaceId) ?? new UsageAccount(workspaceId, this.parts);
    this.#accounts.set(workspaceId, account);
    return account;
  }

  #batch(): Entry[] {
    return [...this.#accounts.values()].flatMap(({ unwritten }) => unwritten);
  }

  /** Amounts stay unwritten until the store has them. False if it has not taken them. */
  async #write(): Promise<boolean> {
    const { usage, log } = this.parts;
    const batch = this.#batch();
    if (batch.length === 0) return true;
    try {
      await usage.addUsage(batch);
    } catch (error) {
      log.warn({ entries: batch.length, ...whyOf(error) }, 'usage could not be written, trying again');
      return false;
    }
    for (const entry of batch) this.#accounts.get(entry.workspaceId)?.written(entry);
    return true;
  }

  async #settleNow(): Promise<void> {
    if (!(await this.#write())) return;
    for (const [workspaceId, account] of this.#accounts) {
      if (account.isIdle) this.#accounts.delete(workspaceId);
      else if (account.isDue) await account.ask();
    }
  }
}

export const createLedger = (parts: LedgerParts): UsageLedger => new UsageLedger(parts);
