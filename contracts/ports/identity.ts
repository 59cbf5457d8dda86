/** Who calls, and what they may use (decisions.md "Keys", fine point 6). */
export interface Caller {
  readonly workspaceId: string;
  readonly keyId: string;
}

export interface KeyAuthority {
  /** The caller behind a key, from a cache where it can; undefined where it is unknown or revoked. */
  authenticate(key: string): Promise<Caller | undefined>;
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

/** How admission leases blocks of slots from the store that all processes share. */
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
  /** What is left of the workspace's quota this month, by kind; absent kinds have no quota. */
  remaining(workspaceId: string): Promise<Partial<Record<UsageKind, number>>>;
}
