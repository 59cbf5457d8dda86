/**
 * This process's part of every workspace's concurrency slots (fine point 6). It leases blocks ahead of
 * need in the background, so a job is let in without waiting; only a workspace's first job, and a burst
 * beyond what is held, wait for one answer of the store, bounded.
 *
 * Invariants: jobs let in never exceed what is held, and what is held is lowered before the store is told.
 * One hold at a time runs for a workspace. Without the store, a lease goes on for a grace past its end.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { SlotLeases } from '../../contracts/ports/identity.js';
import { errorText, inTime, within } from './waiting.js';

export interface SlotsParts {
  readonly leases: SlotLeases;
  readonly clock: Clock;
  readonly log: Log;
  /** A workspace's slots until the store has told them. */
  readonly defaultLimit: number;
}

interface Share {
  readonly workspaceId: string;
  used: number;
  /** Jobs waiting for an answer of the store. */
  waiting: number;
  /** Most used or waited for since the last renewal. */
  peak: number;
  idleRenewals: number;
  held: number;
  limit: number;
  /** When the lease ends, on the monotonic clock. */
  until: number;
  /** No asking for more before this: the last answer was short, or there was none. */
  askFrom: number;
  /** The store did not answer the last time. */
  away: boolean;
  asking: Promise<void> | undefined;
}

export interface Slots {
  /** Errors: `concurrency_exceeded` with `retryAfter`; `overloaded` where the store is away for too long. */
  take(workspaceId: string): Promise<() => void>;
  /** Extends every lease and fits it to the need. */
  renew(): Promise<void>;
  /** Gives every slot back. */
  stop(): Promise<void>;
  state(): { readonly workspaces: number; readonly used: number; readonly held: number };
}

/** Longest that a job waits for the store. */
const WAIT_MS = 2000;
/** A store that says nothing for this long is away. */
const ANSWER_MS = 5000;
const ASK_AGAIN_MS = 200;
/** A store that is away: what is held goes on for this long after the lease has ended. */
export const GRACE_MS = 60_000;
const SPARE = 4;
/** Renewals without a job before the last slots are given back (15 s). */
const IDLE_RENEWALS = 3;
const RETRY_AFTER_SECONDS = 1;

export function createSlots({ leases, clock, log, defaultLimit }: SlotsParts): Slots {
  const shares = new Map<string, Share>();

  function shareOf(workspaceId: string): Share {
    const known = shares.get(workspaceId);
    if (known) return known;
    const share: Share = {
      workspaceId,
      used: 0,
      waiting: 0,
      peak: 0,
      idleRenewals: 0,
      held: 0,
      limit: defaultLimit,
      until: 0,
      askFrom: 0,
      away: false,
      asking: undefined,
    };
    shares.set(workspaceId, share);
    return share;
  }

  const needed = (share: Share): number => share.used + share.waiting;

  /** Need, and half as much again to grow into, four at least. */
  function comfortable(share: Share): number {
    const need = Math.max(needed(share), share.peak);
    return Math.min(share.limit, need + Math.max(SPARE, Math.ceil(need / 2)));
  }

  const isValid = (share: Share): boolean => clock.monotonic() < share.until + (share.away ? GRACE_MS : 0);
  const hasRoom = (share: Share): boolean => share.used < share.held && isValid(share);
  const mayAsk = (share: Share): boolean =>
    clock.monotonic() >= share.askFrom && (share.held < share.limit || !isValid(share));

  function answered(
    share: Share,
    wanted: number,
    asked: number,
    answer: { held: number; limit: number },
  ): void {
    share.held = answer.held;
    share.limit = answer.limit;
    share.until = asked + leases.leaseMs;
    share.away = false;
    const short = answer.held < Math.min(wanted, answer.limit);
    share.askFrom = short ? clock.monotonic() + ASK_AGAIN_MS : 0;
  }

  async function holdNow(share: Share, wanted: number): Promise<void> {
    const asked = clock.monotonic();
    share.held = Math.min(share.held, wanted);
    try {
      answered(share, wanted, asked, await inTime(clock, ANSWER_MS, leases.hold(share.workspaceId, wanted)));
    } catch (error) {
      share.away = true;
      share.askFrom = clock.monotonic() + ASK_AGAIN_MS;
      log.warn({ workspaceId: share.workspaceId, reason: errorText(error) }, 'slots could not be leased');
    }
  }

  /** Asks the store, or joins the question that is under way. Never rejects. */
  function hold(share: Share, wanted: () => number): Promise<void> {
    share.asking ??= holdNow(share, wanted()).finally(() => {
      share.asking = undefined;
    });
    return share.asking;
  }

  const grow = (share: Share): Promise<void> => hold(share, () => Math.max(comfortable(share), share.held));

  function refusal(share: Share): ServiceError {
    if (isValid(share)) return new ServiceError('concurrency_exceeded', { retryAfter: RETRY_AFTER_SECONDS });
    const message = 'The server cannot reach its database, try again';
    return new ServiceError('overloaded', { message, retryAfter: RETRY_AFTER_SECONDS });
  }

  function occupy(share: Share): () => void {
    share.used++;
    share.peak = Math.max(share.peak, share.used);
    if (share.used >= share.held * 0.75 && !share.asking && mayAsk(share)) void grow(share);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      share.used--;
    };
  }

  /** Asks until there is room, the answer is short, or the time is up. The slot is taken in the same turn. */
  async function waitForSlot(share: Share): Promise<() => void> {
    const deadline = clock.monotonic() + WAIT_MS;
    share.waiting++;
    try {
      while (!hasRoom(share)) {
        const left = deadline - clock.monotonic();
        if (left <= 0 || !(share.asking || mayAsk(share))) throw refusal(share);
        await within(clock, left, grow(share));
      }
      return occupy(share);
    } finally {
      share.waiting--;
    }
  }

  /** What was used since the last renewal decides; a share that nobody uses ends. */
  async function renewShare(share: Share): Promise<void> {
    const busy = share.peak > 0 || needed(share) > 0;
    share.idleRenewals = busy ? 0 : share.idleRenewals + 1;
    const idle = share.idleRenewals >= IDLE_RENEWALS;
    await hold(share, () => (idle ? needed(share) : comfortable(share)));
    share.peak = needed(share);
    if (idle && needed(share) === 0 && share.held === 0 && !share.asking) shares.delete(share.workspaceId);
  }

  /** Another process is short: what is spare goes back at once. */
  function giveBack(workspaceId: string): void {
    const share = shares.get(workspaceId);
    if (!share || share.held <= needed(share)) return;
    share.peak = needed(share);
    void hold(share, () => needed(share));
  }

  const listening = leases.onShortage(giveBack).catch((error: unknown) => {
    log.warn({ reason: errorText(error) }, 'not told of other processes that are short of slots');
    return () => undefined;
  });

  return {
    async take(workspaceId) {
      const share = shareOf(workspaceId);
      return hasRoom(share) ? occupy(share) : waitForSlot(share);
    },
    async renew() {
      await Promise.all([...shares.values()].map(renewShare));
    },
    async stop() {
      (await listening)();
      for (const { asking } of shares.values()) await asking;
      await Promise.all([...shares.values()].map((share) => hold(share, () => 0)));
      shares.clear();
    },
    state() {
      const all = [...shares.values()];
      const sum = (of: (share: Share) => number): number =>
        all.reduce((total, share) => total + of(share), 0);
      return { workspaces: all.length, used: sum(({ used }) => used), held: sum(({ held }) => held) };
    },
  };
}
