/**
 * What jobs used, and what is left of the quotas. Counted here and written in batches; what is left is the
 * store's answer minus what was counted since, so no request waits for it but a workspace's first.
 *
 * Invariant: an amount is either unwritten here or in the store, never dropped; a batch whose answer was
 * lost is written again, so usage may be counted twice but never missed. Several processes learn of each
 * other's usage with a delay, by which a quota may be overrun.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { UsageKind, UsageStore } from '../../contracts/ports/identity.js';
import { errorText, within } from './waiting.js';

export interface LedgerParts {
  readonly usage: UsageStore;
  readonly clock: Clock;
  readonly log: Log;
}

interface Account {
  readonly workspaceId: string;
  /** Kinds without a quota are absent. */
  left: Partial<Record<UsageKind, number>> | undefined;
  readonly unwritten: Map<UsageKind, number>;
  /** When quotas were last asked for, and when a job last came. */
  asked: number;
  seen: number;
  asking: Promise<void> | undefined;
}

export interface Ledger {
  /** Errors: `quota_exceeded`; `overloaded` where a workspace's quota could never be asked for. */
  admit(workspaceId: string, kind: UsageKind | undefined): Promise<void>;
  count(workspaceId: string, kind: UsageKind, amount: number): void;
  /** Writes what was counted, then asks again for what is left. */
  settle(): Promise<void>;
  /** Writes the rest, trying for five seconds. */
  stop(): Promise<void>;
  /** Entries that are not written yet. */
  unwritten(): number;
}

const WAIT_MS = 2000;
const ASK_AGAIN_MS = 10_000;
const FORGET_MS = 600_000;
const LAST_ATTEMPTS = 10;
const LAST_PAUSE_MS = 500;

export function createLedger({ usage, clock, log }: LedgerParts): Ledger {
  const accounts = new Map<string, Account>();
  let settling: Promise<void> | undefined;

  function accountOf(workspaceId: string): Account {
    const known = accounts.get(workspaceId);
    if (known) return known;
    const unwritten = new Map<UsageKind, number>();
    const account: Account = {
      workspaceId,
      left: undefined,
      unwritten,
      asked: 0,
      seen: 0,
      asking: undefined,
    };
    accounts.set(workspaceId, account);
    return account;
  }

  /** The store's answer, minus what it cannot know of yet. */
  async function askNow(account: Account): Promise<void> {
    try {
      const left = { ...(await usage.remaining(account.workspaceId)) };
      for (const [kind, amount] of account.unwritten) if (left[kind] !== undefined) left[kind] -= amount;
      account.left = left;
      account.asked = clock.monotonic();
    } catch (error) {
      log.warn({ workspaceId: account.workspaceId, reason: errorText(error) }, 'quota could not be read');
    }
  }

  function ask(account: Account): Promise<void> {
    account.asking ??= askNow(account).finally(() => {
      account.asking = undefined;
    });
    return account.asking;
  }

  function take(): { account: Account; kind: UsageKind; amount: number }[] {
    return [...accounts.values()].flatMap((account) =>
      [...account.unwritten].map(([kind, amount]) => ({ account, kind, amount })),
    );
  }

  /** Amounts stay unwritten until the store has them. False where it has not taken them. */
  async function write(): Promise<boolean> {
    const batch = take();
    if (batch.length === 0) return true;
    try {
      await usage.add(
        batch.map(({ account, kind, amount }) => ({ workspaceId: account.workspaceId, kind, amount })),
      );
    } catch (error) {
      log.warn(
        { entries: batch.length, reason: errorText(error) },
        'usage could not be written, trying again',
      );
      return false;
    }
    for (const { account, kind, amount } of batch) subtract(account.unwritten, kind, amount);
    return true;
  }

  const isIdle = (account: Account): boolean =>
    account.unwritten.size === 0 && !account.asking && clock.monotonic() - account.seen > FORGET_MS;

  const isDue = ({ asked, seen }: Account): boolean =>
    seen > asked && clock.monotonic() - asked > ASK_AGAIN_MS;

  async function settleNow(): Promise<void> {
    if (!(await write())) return;
    for (const account of accounts.values()) {
      if (isIdle(account)) accounts.delete(account.workspaceId);
      else if (isDue(account)) await ask(account);
    }
  }

  function settle(): Promise<void> {
    settling ??= settleNow().finally(() => {
      settling = undefined;
    });
    return settling;
  }

  async function admit(workspaceId: string, kind: UsageKind | undefined): Promise<void> {
    const account = accountOf(workspaceId);
    account.seen = clock.monotonic();
    if (!account.left) await within(clock, WAIT_MS, ask(account));
    if (!account.left)
      throw new ServiceError('overloaded', {
        message: 'The server cannot reach its database, try again',
        retryAfter: 1,
      });
    const spent = kind
      ? (account.left[kind] ?? 1) <= 0
      : Object.values(account.left).some((left) => left <= 0);
    if (spent) throw new ServiceError('quota_exceeded');
  }

  return {
    admit,
    settle,
    count(workspaceId, kind, counted) {
      const amount = Math.round(counted);
      if (!(amount > 0) || !Number.isSafeInteger(amount)) return;
      const account = accountOf(workspaceId);
      account.seen = clock.monotonic();
      account.unwritten.set(kind, (account.unwritten.get(kind) ?? 0) + amount);
      if (account.left?.[kind] !== undefined) account.left[kind] -= amount;
    },
    async stop() {
      if (settling) await within(clock, WAIT_MS, settling);
      for (let attempt = 1; !(await write()); attempt++) {
        if (attempt === LAST_ATTEMPTS)
          return log.error({ entries: take().length }, 'usage was lost: the database is away');
        await within(clock, LAST_PAUSE_MS, new Promise(() => undefined));
      }
    },
    unwritten: () => take().length,
  };
}

function subtract(amounts: Map<UsageKind, number>, kind: UsageKind, amount: number): void {
  const rest = (amounts.get(kind) ?? 0) - amount;
  if (rest > 0) amounts.set(kind, rest);
  else amounts.delete(kind);
}
