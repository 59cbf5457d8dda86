/** Length of a prompt in tokens of o200k_base, the unit of the limits. */
import type { Caller } from './accounts/identity.js';

/** For whom a text is counted: workspaces take turns. */
export type TokenAsker = Pick<Caller, 'workspaceId' | 'isLive'>;

export interface TokenCounter {
  /**
   * Whether the text has more than `limit` tokens. Never works on this thread; at most LIMITS.tokenQueue texts wait.
   * Errors: `overloaded`.
   */
  exceedsTokens(text: string, limit: number, asker: TokenAsker): Promise<boolean>;
  /** Its number of tokens; works and fails as `exceeds`. */
  countTokens(text: string, asker: TokenAsker): Promise<number>;
}
