/**
 * Figures of ended calls (contracts/sessions/call-figures.ts). The transaction that ends a session adds them, so that each call counts
 * once, whoever ends it, and however many processes have held it. They are kept apart from the sessions, which may be deleted.
 */
import {
  type CallGroup,
  type CallSums,
  type CountedCall,
  kindOfCall,
  sumsOfCall,
} from '../../contracts/sessions/call-figures.js';
import type { CallStats, StatsFilter } from '../../contracts/ports/sessions/stats.js';
import type { SessionRecord } from '../../contracts/ports/sessions/sessions.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { pricesOf, turnsOf } from './turns.js';

/** The columns of sums, and their members. */
const SUMS = {
  calls: 'calls',
  answers: 'answers',
  failed_answers: 'failedAnswers',
  tools: 'tools',
  failed_tools: 'failedTools',
  words_user: 'wordsUser',
  words_agent: 'wordsAgent',
  call_ms: 'callMs',
  cost: 'cost',
} as const satisfies Readonly<Record<string, Exclude<keyof CallSums, 'latencies'>>>;

async function messagesOf(tx: Transaction, id: string): Promise<CountedCall['messages']> {
  const rows = await tx<{ content: string }[]>`
    select content from session_items where session_id = ${id} and type = 'message'`;
  return rows.map(({ content }) => JSON.parse(content) as CountedCall['messages'][number]);
}

async function countedCall(
  tx: Transaction,
  record: SessionRecord,
  prices: string | null,
): Promise<CountedCall> {
  if (record.startedAt === null) return { turns: [], messages: [], callMs: 0, prices: null };
  const [turns, messages] = [await turnsOf(tx, record.id), await messagesOf(tx, record.id)];
  return { turns, messages, callMs: (record.durationSeconds ?? 0) * 1000, prices: pricesOf(prices) };
}

/** The columns of sums in words of SQL, each made by `form`; their names are constants above. */
const each = (sql: Sql | Transaction, form: (column: string) => string) =>
  sql.unsafe(Object.keys(SUMS).map(form).join(', '));

const columnsOf = (sums: CallSums): string =>
  JSON.stringify(Object.fromEntries(Object.entries(SUMS).map(([column, name]) => [column, sums[name]])));

/** Adds one ended session. The last statement of its transaction: others that end at the same time wait for the row. */
export async function addFigures(
  tx: Transaction,
  record: SessionRecord,
  prices: string | null,
): Promise<void> {
  const counted = await countedCall(tx, record, prices);
  const sums = sumsOfCall(counted);
  await tx`
    insert into call_figures as f (workspace_id, hour, agent_id, version_number, kind, ended_reason, connected, currency,
      latencies, ${each(tx, (column) => column)})
    select ${record.workspaceId}, date_trunc('hour', now(), 'UTC'), ${record.agentId}, ${record.versionNumber ?? 0}::int,
      ${kindOfCall(record.source, record.direction)}, ${record.endedReason ?? 'error'}, ${record.startedAt !== null}::boolean,
      ${counted.prices?.currency ?? ''}, ${sums.latencies as number[]}::int[], ${each(tx, (column) => `one.${column}`)}
    from json_to_record(${columnsOf(sums)}::text::json)
      as one (${each(tx, (column) => `${column} ${column === 'cost' ? 'float8' : 'bigint'}`)})
    on conflict (workspace_id, hour, agent_id, version_number, kind, ended_reason, connected, currency) do update set
      ${each(tx, (column) => `${column} = f.${column} + excluded.${column}`)},
      latencies = (
        select coalesce(array_agg(coalesce(a, 0) + coalesce(b, 0) order by place), '{}')
        from unnest(f.latencies, excluded.latencies) with ordinality as u (a, b, place))`;
}

const conditions = (sql: Sql, workspaceId: string, { from, to, agentId, version, kind }: StatsFilter) => sql`
  f.workspace_id = ${workspaceId} and f.hour >= ${from} and f.hour < ${to}
  ${kind === undefined ? sql`and f.kind <> 'dashboard'` : sql`and f.kind = ${kind}`}
  ${agentId === undefined ? sql`` : sql`and f.agent_id = ${agentId}`}
  ${version === undefined ? sql`` : sql`and f.version_number = ${version}`}`;

type Row = Omit<CallGroup, keyof CallSums> & { readonly sums: CallSums };

/** Sums by step, reason and currency, oldest first. Counts of latencies are summed place by place. */
async function groups(sql: Sql, workspaceId: string, filter: StatsFilter): Promise<readonly CallGroup[]> {
  const rows = await sql<Row[]>`
    with wanted as (
      select date_trunc(${filter.step}, f.hour, 'UTC') as at, f.* from call_figures f
      where ${conditions(sql, workspaceId, filter)}
    ), places as (
      select at, ended_reason, connected, currency, place, sum(count) as count
      from wanted, unnest(latencies) with ordinality as u (count, place) group by 1, 2, 3, 4, 5
    ), spread as (
      select at, ended_reason, connected, currency, json_agg(count order by place) as latencies
      from places group by 1, 2, 3, 4
    ), sums as (
      select at, ended_reason, connected, currency, ${each(sql, (column) => `sum(${column}) as ${column}`)}
      from wanted group by 1, 2, 3, 4
    )
    select at, ended_reason as reason, connected, currency,
      json_build_object('latencies', coalesce(latencies, '[]'),
        ${each(sql, (column) => `'${SUMS[column as keyof typeof SUMS]}', ${column}`)}) as sums
    from sums left join spread using (at, ended_reason, connected, currency) order by at, ended_reason, connected, currency`;
  return rows.map(({ sums, ...group }) => ({ ...group, ...sums }));
}

/** Most batches of one sweep; the rest waits for the next. */
const BATCHES = 50;
const AT_ONCE = 1000;

/** Removes figures of hours more than `days` ago; 0 keeps all. */
export async function removeOldFigures(sql: Sql, days: number): Promise<void> {
  for (let batch = 0; days > 0 && batch < BATCHES; batch += 1) {
    const { count } = await sql`
      delete from call_figures where ctid = any (array(
        select ctid from call_figures where hour < now() - ${days}::int * interval '1 day'
        limit ${AT_ONCE} for update skip locked))`;
    if (count < AT_ONCE) return;
  }
}

export const createCallStats = (sql: Sql): CallStats => ({
  groups: (workspaceId, filter) => groups(sql, workspaceId, filter),
});
