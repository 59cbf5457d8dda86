/**
 * Short-lived keys that an account owner's server hands to a browser, for one realtime socket at a time
 * (docs/contract/decisions.md "Protocol A").
 */
import type { Caller, Identity } from './identity.js';

/** Prefix of every client secret; clients check it. */
export const CLIENT_SECRET_PREFIX = 'ek_';

/** Settings of the session that a secret is for, as in `session.update`: checked, without defaults. */
export type SecretSession = Readonly<Record<string, unknown>>;

export interface IssuedSecret {
  /** Characters `A-Za-z0-9_-`. It is shown only this once. */
  readonly value: string;
  readonly expiresAt: Date;
}

/** A secret in use; no other socket gets it before `release`. */
export interface RedeemedSecret {
  /** The key that issued it. */
  readonly caller: Identity;
  readonly session: SecretSession;
  /** Releases the secret for another socket. Call it once the socket is closed. Idempotent, never fails. */
  release(): void;
}

export interface ClientSecrets {
  /** Errors: `concurrency_exceeded` if the workspace has as many valid ones as it may, `overloaded`. */
  issue(caller: Caller, session: SecretSession, ttlSeconds: number): Promise<IssuedSecret>;
  /**
   * Undefined if the secret is unknown, expired or in use, or the key that issued it is revoked or has expired. One in use
   * is waited for (LIMITS.clientSecret.waitMs). A secret in use stays usable beyond its expiry. Errors: `overloaded` if the database does not answer.
   */
  redeem(secret: string): Promise<RedeemedSecret | undefined>;
}
