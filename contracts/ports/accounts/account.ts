/** A workspace's usage, its quotas and its keys. */
import type { Role } from '../../permissions.js';
import type { UsageKind } from './identity.js';

export interface WorkspaceUsage {
  readonly name: string;
  /** The month counted, UTC. */
  readonly from: Date;
  readonly until: Date;
  /** Most concurrent jobs, calls apart. */
  readonly concurrency: number;
  /** Most calls at once; null: any number, within its share of all places. */
  readonly calls: number | null;
  /** `quota` is null if there is none. Written in batches, so it lags a little. */
  readonly kinds: Readonly<Record<UsageKind, { readonly used: number; readonly quota: number | null }>>;
}

/** A key's record, without the key itself. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The last characters of the key; empty if the key is short. */
  readonly tail: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** Accurate to a minute. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** A key that another one makes. */
export interface WantedKey {
  readonly name: string;
  readonly role: Role;
  /** Null: no earlier than the key that makes it. */
  readonly expiresAt: Date | null;
}

/** Who makes or revokes a key, for the audit trail. */
export interface KeyChanger {
  readonly workspaceId: string;
  readonly keyId: string;
  /** The client's. */
  readonly address: string;
}

export interface MadeKey extends KeyRecord {
  /** Never told again. */
  readonly key: string;
}

export interface Accounts {
  /** It ends no later than the key that makes it. Errors: `conflict` if the workspace has too many, `invalid_key` if that one was revoked meanwhile. */
  makeKey(wanted: WantedKey, by: KeyChanger): Promise<MadeKey>;
  /** Revokes a key of the workspace at once, in every process; false if it has none of that id. */
  revokeKey(keyId: string, by: KeyChanger): Promise<boolean>;
  /** Undefined if the workspace no longer exists. */
  usage(workspaceId: string): Promise<WorkspaceUsage | undefined>;
  /** The newest thousand, including revoked ones, oldest first. */
  keys(workspaceId: string): Promise<readonly KeyRecord[]>;
}
