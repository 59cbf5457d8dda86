export interface FullLimit {
  readonly full: 'address' | 'agent';
  readonly retryAfter: number;
}

/** How often sessions may be asked for without a key (docs/contract/platform.md 6.6, 429). */
export interface PublicLimits {
  /**
   * The limit that is full, of this client address or of this agent, and the seconds until it may have
   * one again; undefined where both may. Counts nothing.
   */
  full(address: string, agentId: string): Promise<FullLimit | undefined>;
  /** Counts one session of both; where one is full, as `full`. A refusal by the address does not count for the agent. */
  take(address: string, agentId: string): Promise<FullLimit | undefined>;
}
