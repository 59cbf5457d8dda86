/**
 * Keys for browsers that open one connection or send one upload of protocol B each (docs/contract/decisions.md "Protocol B"). A token stands for
 * the caller who issued it, works once, only for its kind, and for LIMITS.singleUseToken.ttlMs.
 */
import type { Caller, Identity } from './identity.js';

export const SINGLE_USE_TOKEN_KINDS = ['realtime_scribe', 'batch_scribe', 'tts_websocket'] as const;
type AskedKind = (typeof SINGLE_USE_TOKEN_KINDS)[number];

/** Those that clients ask for by name, and those that open a conversation with one agent. */
export type SingleUseTokenKind = AskedKind | `conversation:${string}`;

export const isSingleUseTokenKind = (kind: string): kind is AskedKind =>
  (SINGLE_USE_TOKEN_KINDS as readonly string[]).includes(kind);

/** Shared by all processes. Errors of both: `overloaded` if the database does not answer. */
export interface SingleUseTokens {
  /** A new token. Errors: `concurrency_exceeded` if the workspace has too many unused ones. */
  issue(caller: Caller, kind: SingleUseTokenKind): Promise<string>;
  /** The caller behind the token, once; undefined if it is unknown, used, expired, of another kind, or its key is revoked or has expired. */
  redeem(token: string, kind: SingleUseTokenKind): Promise<Identity | undefined>;
}
