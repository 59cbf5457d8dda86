/**
 * Tokens by which a client joins a session's transport (docs/contract/transport.md "Single use"). The first one is spent at the first
 * join, which the session's row decides; a later one belongs to the same user and lasts until the session ends.
 */
export interface JoinClaims {
  readonly sessionId: string;
  readonly identity: string;
  /** `join` is the token of the session response; `rejoin` is what a client that has joined returns with. */
  readonly use: 'join' | 'rejoin';
}

export interface JoinTokens {
  issue(claims: JoinClaims, expiresAt: Date): Promise<string>;
  /** Undefined where it is not ours, was changed, or is too old. */
  verify(token: string): Promise<JoinClaims | undefined>;
}
