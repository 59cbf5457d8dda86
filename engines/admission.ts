/**
 * Admission of jobs (fine point 6): the workspace's quota, then a concurrency slot, both decided in this
 * process. Slots are leased (admission/slots.ts) and usage is counted (admission/ledger.ts) here, and both
 * are brought to the store in the background. Quota rule: an exhausted quota refuses new jobs of its kind,
 * or all where the kind is not told; a job that runs is never cut.
 */
import type { Clock } from '../contracts/clock.js';
import type { Log } from '../contracts/log.js';
import type { Admission, SlotLeases, UsageStore } from '../contracts/ports/identity.js';
import { createLedger } from './admission/ledger.js';
import { createSlots } from './admission/slots.js';

export interface AdmissionParts {
  readonly leases: SlotLeases;
  readonly usage: UsageStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Slots of a workspace that sets none of its own. */
  readonly defaultLimit: number;
}

export interface AdmissionState {
  readonly workspaces: number;
  readonly used: number;
  readonly held: number;
  readonly unwrittenUsage: number;
}

export type RunningAdmission = Admission & {
  /** Writes all usage and gives all slots back. Idempotent. */
  stop(): Promise<void>;
  /** For metrics. */
  state(): AdmissionState;
};

const SETTLE_MS = 2000;
const RENEWALS_A_LEASE = 3;

/** Runs work again and again, `ms` after it has ended; the result ends it. */
function repeatedly(clock: Clock, ms: number, work: () => Promise<void>): () => void {
  let cancel = (): void => undefined;
  let stopped = false;
  const next = (): void => {
    cancel = clock.after(ms, () => void work().finally(() => stopped || next()));
  };
  next();
  return () => {
    stopped = true;
    cancel();
  };
}

/** Errors of `enter`: `quota_exceeded`, `concurrency_exceeded` with `retryAfter`, `overloaded`. */
export function createAdmission(parts: AdmissionParts): RunningAdmission {
  const slots = createSlots(parts);
  const ledger = createLedger(parts);
  const renewing = repeatedly(parts.clock, parts.leases.leaseMs / RENEWALS_A_LEASE, slots.renew);
  const settling = repeatedly(parts.clock, SETTLE_MS, ledger.settle);

  async function stop(): Promise<void> {
    renewing();
    settling();
    await Promise.all([ledger.stop(), slots.stop()]);
  }

  let stopped: Promise<void> | undefined;
  return {
    async enter(workspaceId, kind) {
      await ledger.admit(workspaceId, kind);
      return slots.take(workspaceId);
    },
    check: ledger.admit,
    use: ledger.count,
    stop: () => (stopped ??= stop()),
    state: () => ({ ...slots.state(), unwrittenUsage: ledger.unwritten() }),
  };
}
