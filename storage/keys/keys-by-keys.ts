/**
 * Keys that a key of the same workspace makes and revokes (CONSOLE_KEYS). The database notes both in the audit trail
 * (migrations/0010-audit.sql); here the entry gets who it was.
 */
import type { Ids } from '../../contracts/ids.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { AuditAction } from '../../contracts/ports/accounts/audit.js';
import type { KeyChanger, MadeKey, WantedKey } from '../../contracts/ports/accounts/account.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { newKey, storeKey } from './keys.js';

/** Names who did it in the entry that this transaction has left. */
const sign = (tx: Transaction, action: AuditAction, subjectId: string, by: KeyChanger) => tx`
  update audit_entries set key_id = ${by.keyId}, address = ${by.address},
    key_name = (select name from api_keys where id = ${by.keyId})
  where workspace_id = ${by.workspaceId} and subject_id = ${subjectId} and action = ${action} and key_id is null`;

/** When the maker ends, and how many valid keys its workspace has; requests that make keys of one workspace take turns. */
async function makerOf(tx: Transaction, { workspaceId, keyId }: KeyChanger) {
  await tx`select from workspaces where id = ${workspaceId} for update`;
  const [maker] = await tx<{ expiresAt: Date | null; valid: number }[]>`
    select expires_at as "expiresAt", (
      select count(*)::int from api_keys
      where workspace_id = ${workspaceId} and revoked_at is null and (expires_at is null or expires_at > now())
    ) as valid
    from api_keys where id = ${keyId} and workspace_id = ${workspaceId} and revoked_at is null`;
  if (!maker) throw new ServiceError('invalid_key');
  return maker;
}

const earlier = (one: Date | null, other: Date | null): Date | null =>
  one && other ? (one < other ? one : other) : (one ?? other);

export const makeKeyBy = (sql: Sql, ids: Ids, wanted: WantedKey, by: KeyChanger): Promise<MadeKey> =>
  sql.begin(async (tx) => {
    const { expiresAt: end, valid } = await makerOf(tx, by);
    if (valid >= LIMITS.keys.valid)
      throw new ServiceError('conflict', { message: `The workspace has ${valid} keys: revoke some first` });
    const made = { id: ids.next('key'), key: newKey(), expiresAt: earlier(wanted.expiresAt, end) };
    await storeKey(tx, { ...wanted, ...made, workspaceId: by.workspaceId, origin: 'command' });
    await sign(tx, 'key.created', made.id, by);
    const [row] = await tx<[Pick<MadeKey, 'tail' | 'createdAt'>]>`
      select tail, created_at as "createdAt" from api_keys where id = ${made.id}`;
    return { ...wanted, ...made, ...row, lastUsedAt: null, revokedAt: null };
  });

/** One that was revoked before stays so, and leaves no other entry. */
export const revokeKeyBy = (sql: Sql, keyId: string, by: KeyChanger): Promise<boolean> =>
  sql.begin(async (tx) => {
    const { count } = await tx`
      update api_keys set revoked_at = coalesce(revoked_at, now())
      where id = ${keyId} and workspace_id = ${by.workspaceId}`;
    if (count > 0) await sign(tx, 'key.revoked', keyId, by);
    return count > 0;
  });
