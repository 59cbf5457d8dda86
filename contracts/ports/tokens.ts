/** How long a prompt is to a language model: tokens of o200k_base, which the limits are written in. */
export interface TokenCounter {
  /**
   * Whether the text has more than `limit` tokens. Never works on this thread; as many as LIMITS.tokenQueue wait.
   * Errors: `overloaded`.
   */
  exceeds(text: string, limit: number): Promise<boolean>;
}
