/**
 * Tokens with which a client joins a session's transport (docs/contract/transport.md "Single use"). The first one is spent at
 * the first join, which the session's row decides; later ones belong to the same user and last until the session ends.
 */
export interface JoinClaims {
  readonly sessionId: string;
  readonly identity: string;
  /** `join` is the token of the session response; with a `rejoin` token a client that has joined returns. */
  readonly use: 'join' | 'rejoin';
}

export interface JoinTokens {
  issue(claims: JoinClaims, expiresAt: Date): Promise<string>;
  /** Undefined if it is not ours, or was changed. Whether it is in time, the session's row decides. */
  verify(token: string): Promise<JoinClaims | undefined>;
}
