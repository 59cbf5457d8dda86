/** Callers, and the quotas and slots that they may use (docs/contract/decisions.md "Keys", decision 6). */
import type { Role } from '../permissions.js';

export interface Caller {
  readonly workspaceId: string;
  readonly keyId: string;
}

/** A caller by a key, or by what a key has issued: it may do what the key may. */
export interface Identity extends Caller {
  readonly role: Role;
}

export interface KeyAuthority {
  /**
   * The holder of a key, from a cache where possible; undefined where it is unknown or revoked. Errors: `expired_key`,
   * `overloaded` where the database does not answer.
   */
  authenticate(key: string): Promise<Identity | undefined>;
}

export type UsageKind = 'synthesis_characters' | 'transcription_ms' | 'conversation_ms';

/**
 * Admission of one running job: a concurrency slot and the workspace's quota, both decided locally.
 * Errors: `concurrency_exceeded` with `retryAfter`, `quota_exceeded`.
 */
export interface Admission {
  /**
   * Takes a slot; the result gives it back and may be called twice. An exhausted quota refuses: that of
   * `kind`, or any of the workspace's where the kind is not told.
   */
  enter(workspaceId: string, kind?: UsageKind): Promise<() => void>;
  /** Whether the quota of that kind is left, without a slot. Errors: `quota_exceeded`. */
  check(workspaceId: string, kind: UsageKind): Promise<void>;
  /** Counts what a job used; written in batches. */
  use(workspaceId: string, kind: UsageKind, amount: number): void;
}

/** The store of slot leases, which all processes share. */
export interface SlotLeases {
  /** How long a hold lasts when it is not renewed. */
  readonly leaseMs: number;
  /**
   * Sets how many of the workspace's slots this process holds, at most what is left of `limit`
   * among all live processes, and extends the lease. Returns how many it holds now.
   */
  hold(workspaceId: string, wanted: number): Promise<{ readonly held: number; readonly limit: number }>;
  /** Tells when another process wanted more slots of a workspace than were left. The result ends it. */
  onShortage(listener: (workspaceId: string) => void): Promise<() => void>;
}

export interface UsageStore {
  /** Adds a batch; one row a workspace, kind and month. */
  add(
    entries: readonly { readonly workspaceId: string; readonly kind: UsageKind; readonly amount: number }[],
  ): Promise<void>;
  /** The rest of the workspace's quota this month, by kind; absent kinds have no quota. */
  remaining(workspaceId: string): Promise<Partial<Record<UsageKind, number>>>;
}
