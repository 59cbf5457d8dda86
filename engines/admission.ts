/**
 * Admission of jobs (decision 6): the workspace's quota, then a concurrency slot, both decided in this
 * process. Slots are leased (admission/leased-slots.ts) and usage is counted (admission/ledger.ts) here, and both
 * are sent to the store in the background. Quota rule: an exhausted quota refuses new jobs of its kind,
 * and jobs whose kind is not given; a running job is never cut.
 */
import type { Clock } from '../contracts/clock.js';
import { whyOf } from '../contracts/errors.js';
import type { Log } from '../contracts/log.js';
import type { Admission, SlotLeases, UsageStore } from '../contracts/ports/accounts/identity.js';
import { repeat } from '../contracts/time/repeat.js';
import { createLeasedSlots } from './admission/leased-slots.js';
import { createLedger } from './admission/ledger.js';

export interface AdmissionParts {
  readonly leases: SlotLeases;
  readonly usage: UsageStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Slots of a workspace for which no number is set. */
  readonly defaultLimit: number;
}

export interface AdmissionState {
  readonly workspaces: number;
  readonly used: number;
  readonly held: number;
  readonly unwrittenUsage: number;
}

export type RunningAdmission = Admission & {
  /** Writes all usage and returns all slots. Idempotent. */
  stop(): Promise<void>;
  /** For metrics. */
  state(): AdmissionState;
};

const SETTLE_MS = 2000;
const RENEWALS_A_LEASE = 3;

/** Errors of `enter`: `quota_exceeded`, `concurrency_exceeded` with `retryAfter`, `overloaded`. */
export function createAdmission(parts: AdmissionParts): RunningAdmission {
  const slots = createLeasedSlots(parts);
  const ledger = createLedger(parts);
  const every = (ms: number, work: () => Promise<void>) =>
    repeat(parts.clock, ms, work, (error) => parts.log.error(whyOf(error), 'admission upkeep'));
  const stopRenewing = every(parts.leases.leaseMs / RENEWALS_A_LEASE, slots.renew);
  const stopSettling = every(SETTLE_MS, ledger.settle);

  async function stop(): Promise<void> {
    stopRenewing();
    stopSettling();
    await Promise.all([ledger.stop(), slots.stop()]);
  }

  let stopped: Promise<void> | undefined;
  return {
    async enter(workspaceId, kind) {
      await ledger.admit(workspaceId, kind);
      return slots.take(workspaceId);
    },
    reserve: (workspaceId) => slots.take(workspaceId),
    check: ledger.admit,
    use: ledger.count,
    stop: () => (stopped ??= stop()),
    state: () => ({ ...slots.state(), unwrittenUsage: ledger.unwritten() }),
  };
}
