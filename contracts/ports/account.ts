/** What belongs to a workspace beside its content: what it has used of what it may, and its keys. */
import type { Role } from '../permissions.js';
import type { UsageKind } from './identity.js';

export interface WorkspaceUsage {
  readonly name: string;
  /** The month that is counted, UTC. */
  readonly from: Date;
  readonly until: Date;
  /** Jobs at once. */
  readonly concurrency: number;
  /** `quota` is null where there is none. Written in batches, so it lags a little. */
  readonly kinds: Readonly<Record<UsageKind, { readonly used: number; readonly quota: number | null }>>;
}

/** A key without itself. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The last characters; empty of a short key. */
  readonly tail: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface Accounts {
  /** Undefined where the workspace is gone. */
  usage(workspaceId: string): Promise<WorkspaceUsage | undefined>;
  /** The newest thousand, oldest first, revoked ones too. */
  keys(workspaceId: string): Promise<readonly KeyRecord[]>;
}
