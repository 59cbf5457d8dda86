/** Length of a prompt in tokens of o200k_base, in which the limits are written. */
export interface TokenCounter {
  /**
   * Whether the text has more than `limit` tokens. Never works on this thread; as many as LIMITS.tokenQueue wait.
   * Errors: `overloaded`.
   */
  exceeds(text: string, limit: number): Promise<boolean>;
  /** How many tokens it has; as above. */
  count(text: string): Promise<number>;
}
