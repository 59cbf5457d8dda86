/** Callers, and the quotas and slots that they may use (docs/contract/decisions.md "Keys", decision 6). */
import type { Role } from '../../permissions.js';
import type { ForWhom } from '../parts.js';

export interface Caller {
  readonly workspaceId: string;
  readonly keyId: string;
  /** Whether it works in a call or on a socket, where somebody waits for each word: such work goes first. */
  readonly isLive?: boolean;
  /** Whether it is a call, which is counted as one (contracts/admission/call-places.ts): its jobs take no slots. */
  readonly isCall?: boolean;
  /** The call that it works for. */
  readonly call?: Pick<ForWhom, 'sessionId' | 'agentId'>;
  /** A place that the caller's next job takes over; absent: each job takes one of its own. */
  readonly place?: ReservedPlace;
}

/** A concurrency slot that was taken before the job is known, so that a body that arrives slowly counts. */
export interface ReservedPlace {
  /** Passes the slot on, once; the result returns it and may be called twice. Undefined if it is taken or returned. */
  takeSlot(): (() => void) | undefined;
}

/** A caller by a key, or by a token that a key has issued, which has the key's permissions. */
export interface Identity extends Caller {
  readonly role: Role;
  /** Whether its workspace is the default one. Absent: no. */
  readonly isOperators?: boolean;
}

/** The caller as it works in a call or on a socket. */
export const live = <C extends Caller>(caller: C): C & { readonly isLive: true } => ({
  ...caller,
  isLive: true,
});

export interface KeyAuthority {
  /**
   * The holder of a key, from a cache if possible; undefined if it is unknown or revoked. Errors: `expired_key`,
   * `overloaded` if the database does not answer.
   */
  authenticate(key: string): Promise<Identity | undefined>;
}

export type UsageKind = 'synthesis_characters' | 'transcription_ms' | 'conversation_ms';

/**
 * Admission of one running job: a concurrency slot and the workspace's quota, both decided locally.
 * Errors: `concurrency_exceeded` with `retryAfter`, `quota_exceeded`.
 */
export interface Admission {
  /** Takes a slot for a job that is not known yet; the result returns it and may be called twice. Errors: `concurrency_exceeded`. */
  reserve(workspaceId: string): Promise<() => void>;
  /**
   * Takes a slot; the result returns it and may be called twice. An exhausted quota refuses: that of
   * `kind`, or any of the workspace's if no kind is given.
   */
  enter(workspaceId: string, kind?: UsageKind): Promise<() => void>;
  /** Checks that quota of that kind is left, without taking a slot. Errors: `quota_exceeded`. */
  check(workspaceId: string, kind: UsageKind): Promise<void>;
  /** Counts what a job used; written in batches. */
  use(workspaceId: string, kind: UsageKind, amount: number): void;
}

/** The store of slot leases, which all processes share. */
export interface SlotLeases {
  /** Duration of a hold that is not renewed. */
  readonly leaseMs: number;
  /**
   * Sets how many of the workspace's slots this process holds, at most what the other live processes
   * leave of `limit`, and extends the lease. Returns how many it holds now.
   */
  hold(workspaceId: string, wanted: number): Promise<{ readonly held: number; readonly limit: number }>;
  /** Calls `listener` when another process wanted more slots of a workspace than were left. The result unsubscribes. */
  onShortage(listener: (workspaceId: string) => void): Promise<() => void>;
}

export interface UsageStore {
  /** Adds a batch; one row a workspace, kind and month. */
  addUsage(
    entries: readonly { readonly workspaceId: string; readonly kind: UsageKind; readonly amount: number }[],
  ): Promise<void>;
  /** The rest of the workspace's quotas this month, by kind; absent kinds have no quota. */
  remaining(workspaceId: string): Promise<Partial<Record<UsageKind, number>>>;
}
