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

export interface Accounts {
  /** Undefined if the workspace no longer exists. */
  usage(workspaceId: string): Promise<WorkspaceUsage | undefined>;
  /** The newest thousand, including revoked ones, oldest first. */
  keys(workspaceId: string): Promise<readonly KeyRecord[]>;
}
