/**
 * Short-lived keys that an account owner's server hands to a browser, for one realtime socket at a time
 * (docs/contract/decisions.md "Protocol A").
 */
import type { Caller, Identity } from './identity.js';

/** Prefix of every client secret; clients look at it. */
export const CLIENT_SECRET_PREFIX = 'ek_';

/** Settings of the session that a secret is for, as in `session.update`: checked, without defaults. */
export type SecretSession = Readonly<Record<string, unknown>>;

export interface IssuedSecret {
  /** Characters `A-Za-z0-9_-`. This is the only time that anybody sees it. */
  readonly value: string;
  readonly expiresAt: Date;
}

/** A secret in use; no other socket gets it before `release`. */
export interface RedeemedSecret {
  /** The key that issued it. */
  readonly caller: Identity;
  readonly session: SecretSession;
  /** Gives the secret free for another socket. Call it once the socket is closed. Idempotent, never fails. */
  release(): void;
}

export interface ClientSecrets {
  /** Errors: `concurrency_exceeded` where the workspace has as many valid ones as it may, `overloaded`. */
  issue(caller: Caller, session: SecretSession, ttlSeconds: number): Promise<IssuedSecret>;
  /**
   * Undefined where the secret is unknown, expired or in use, or the key that issued it is revoked or has expired.
   * One that is in use stays so beyond its expiry. Errors: `overloaded` where the database does not answer.
   */
  redeem(secret: string): Promise<RedeemedSecret | undefined>;
}
