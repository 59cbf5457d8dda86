/** A workspace's usage and quotas of this month, and its keys (contracts/ports/accounts/account.ts). */
import type { Accounts, WorkspaceUsage } from '../contracts/ports/accounts/account.js';
import type { UsageKind } from '../contracts/ports/accounts/identity.js';
import { randomIds } from '../contracts/ids.js';
import { makeKeyBy, revokeKeyBy } from './keys/keys-by-keys.js';
import { listKeys } from './keys/keys.js';
import type { Sql } from './postgres/sql.js';
import type { Quotas } from './usage.js';

export interface AccountParts {
  readonly sql: Sql;
  /** For workspaces without their own. */
  readonly quotas: Quotas;
  readonly defaultLimit: number;
  /** Calls at once; null: any number. */
  readonly callsPerWorkspace: number | null;
}

interface Row extends Omit<WorkspaceUsage, 'kinds'> {
  readonly kind: UsageKind;
  readonly used: number;
  readonly quota: number | null;
}

async function usage(
  { sql, quotas, defaultLimit, callsPerWorkspace }: AccountParts,
  workspaceId: string,
): Promise<WorkspaceUsage | undefined> {
  const quota = (kind: UsageKind): number | null => quotas[kind] ?? null;
  const rows = await sql<Row[]>`
    with this as (select date_trunc('month', now() at time zone 'utc') as month)
    select w.name, this.month at time zone 'utc' as "from", (this.month + interval '1 month') at time zone 'utc' as until,
      coalesce(w.concurrency, ${defaultLimit}::int) as concurrency, coalesce(w.calls, ${callsPerWorkspace}::float8) as calls, q.kind, q.quota::float8 as quota,
      coalesce(u.amount, 0)::float8 as used
    from this cross join workspaces w
    cross join lateral (values
      ('synthesis_characters', coalesce(w.synthesis_characters, ${quota('synthesis_characters')}::bigint)),
      ('transcription_ms', coalesce(w.transcription_ms, ${quota('transcription_ms')}::bigint)),
      ('conversation_ms', coalesce(w.conversation_ms, ${quota('conversation_ms')}::bigint))
    ) as q (kind, quota)
    left join usage u on u.workspace_id = w.id and u.kind = q.kind and u.month = this.month::date
    where w.id = ${workspaceId}`;
  const [first] = rows;
  if (!first) return undefined;
  const { name, from, until, concurrency, calls } = first;
  const kinds = Object.fromEntries(rows.map(({ kind, used, quota: most }) => [kind, { used, quota: most }]));
  return { name, from, until, concurrency, calls, kinds: kinds as WorkspaceUsage['kinds'] };
}

export const createAccounts = (parts: AccountParts): Accounts => ({
  usage: (workspaceId) => usage(parts, workspaceId),
  keys: (workspaceId) => listKeys(parts.sql, workspaceId),
  makeKey: (wanted, by) => makeKeyBy(parts.sql, randomIds, wanted, by),
  revokeKey: (keyId, by) => revokeKeyBy(parts.sql, keyId, by),
});
