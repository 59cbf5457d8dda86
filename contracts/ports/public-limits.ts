/** How often sessions may be asked for without a key (spec "Session creation statuses", 429). */
export interface PublicLimits {
  /**
   * Counts one session of this client address and this agent; undefined where both may have it, else which of them
   * may not, and the seconds until it may again. A refusal by the address does not count for the agent.
   */
  take(
    address: string,
    agentId: string,
  ): Promise<{ readonly full: 'address' | 'agent'; readonly retryAfter: number } | undefined>;
}
