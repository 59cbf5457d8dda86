export interface FullLimit {
  readonly full: 'address' | 'agent';
  readonly retryAfter: number;
}

/** Rate limits of session requests without a key (docs/contract/platform.md 6.6, 429). */
export interface PublicLimits {
  /**
   * The exhausted limit, of this client address or of this agent, and the seconds until it allows
   * another session; undefined if both allow one. Counts nothing.
   */
  full(address: string, agentId: string): Promise<FullLimit | undefined>;
  /** As `full`, for the address alone. */
  fullAddress(address: string): Promise<FullLimit | undefined>;
  /** Counts one session for both; if one is exhausted, as `full`. A refusal by the address does not count for the agent. */
  countSession(address: string, agentId: string): Promise<FullLimit | undefined>;
}
