/** Usage by workspace, kind and month (UTC), and what is left of a quota. Written in batches, off the audio path. */
import type { UsageKind, UsageStore } from '../contracts/ports/accounts/identity.js';
import type { Sql } from './postgres/sql.js';

type Entry = Parameters<UsageStore['addUsage']>[0][number];

const ROWS_A_STATEMENT = 1000;

/** Sums entries by workspace and kind, in the order in which every process locks the rows. */
function merge(entries: readonly Entry[]): Entry[] {
  const sums = new Map<string, Entry>();
  for (const { workspaceId, kind, amount } of entries) {
    const key = `${workspaceId} ${kind}`;
    sums.set(key, { workspaceId, kind, amount: amount + (sums.get(key)?.amount ?? 0) });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** Monthly amounts for workspaces without their own; absent kinds have no quota. */
export type Quotas = Readonly<Partial<Record<UsageKind, number>>>;

export function createUsageStore(sql: Sql, quotas: Quotas = {}): UsageStore {
  const quota = (kind: UsageKind): number | null => quotas[kind] ?? null;

  /** Leaves out entries of workspaces deleted meanwhile, instead of failing the batch. */
  async function write(rows: readonly Entry[]): Promise<void> {
    const column = <K extends keyof Entry>(name: K): Entry[K][] => rows.map((row) => row[name]);
    await sql`
      insert into usage (workspace_id, kind, month, amount)
      select e.workspace_id, e.kind, date_trunc('month', now() at time zone 'utc')::date, round(e.amount)::bigint
      from unnest(${column('workspaceId')}::text[], ${column('kind')}::text[], ${column('amount')}::float8[])
        as e (workspace_id, kind, amount)
      join workspaces w on w.id = e.workspace_id
      order by e.workspace_id, e.kind
      on conflict (workspace_id, kind, month) do update set amount = usage.amount + excluded.amount`;
  }

  return {
    async addUsage(entries) {
      const rows = merge(entries);
      for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT)
        await write(rows.slice(at, at + ROWS_A_STATEMENT));
    },
    async remaining(workspaceId) {
      const rows = await sql<{ kind: UsageKind; rest: number }[]>`
        select q.kind, (q.quota - coalesce(u.amount, 0))::float8 as rest
        from workspaces w
        cross join lateral (values
          ('synthesis_characters', coalesce(w.synthesis_characters, ${quota('synthesis_characters')}::bigint)),
          ('transcription_ms', coalesce(w.transcription_ms, ${quota('transcription_ms')}::bigint)),
          ('conversation_ms', coalesce(w.conversation_ms, ${quota('conversation_ms')}::bigint))
        ) as q (kind, quota)
        left join usage u on u.workspace_id = w.id and u.kind = q.kind
          and u.month = date_trunc('month', now() at time zone 'utc')::date
        where w.id = ${workspaceId} and q.quota is not null`;
      return Object.fromEntries(rows.map(({ kind, rest }) => [kind, rest]));
    },
  };
}
