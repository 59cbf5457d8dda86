/** A workspace's quota of synthesis this month (UTC), as its wallet. Usage is written in batches, so it lags a little. */
import type { ReadWallet } from '../contracts/ports/accounts/wallet.js';
import type { Sql } from './postgres/sql.js';
import type { Quotas } from './usage.js';

interface Row {
  readonly since: Date;
  readonly from: Date;
  readonly until: Date;
  readonly quota: number | null;
  readonly used: number;
}

/** `quotas` apply to workspaces without their own. */
export const createWallet =
  (sql: Sql, quotas: Quotas = {}): ReadWallet =>
  async (workspaceId) => {
    const [row] = await sql<Row[]>`
      with this as (select date_trunc('month', now() at time zone 'utc') as month)
      select w.created_at as since,
        this.month at time zone 'utc' as "from",
        (this.month + interval '1 month') at time zone 'utc' as until,
        coalesce(w.synthesis_characters, ${quotas.synthesis_characters ?? null}::bigint)::float8 as quota,
        coalesce(u.amount, 0)::float8 as used
      from workspaces w
      cross join this
      left join usage u on u.workspace_id = w.id and u.kind = 'synthesis_characters' and u.month = this.month::date
      where w.id = ${workspaceId}`;
    if (!row) return undefined;
    const { since, from, until, quota, used } = row;
    const left = Math.max(0, (quota ?? 0) - used);
    return { since, from, until, ...(quota !== null && { characters: { quota, left } }) };
  };
