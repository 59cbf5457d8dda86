/** Rows of sessions, made in the database out of one that the gateway has made. */
import type { Sql } from '../servers/database.js';

/** All columns of sessions but those that the database fills in, and those named. */
async function columnsBut(sql: Sql, others: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_name = 'sessions' and is_identity = 'NO' and is_generated = 'NEVER'`;
  return rows.map(({ name }) => name).filter((name) => !others.includes(name));
}

const NEW_ID = `'sess_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 24)`;

/** The least a creation asks of the database: read its agent, count sessions, insert a new one. */
export async function bareCreation(sql: Sql, agent: string, sample: string): Promise<string[]> {
  const columns = (await columnsBut(sql, ['id'])).join(', ');
  return [
    `select * from agents where id = '${agent}'`,
    `with live as (
       select count(*) filter (where status = 'active') as active, count(*) filter (where status = 'pending') as pending
       from sessions where status in ('pending', 'active')
         and workspace_id = (select workspace_id from sessions where id = '${sample}'))
     insert into sessions (id, ${columns}) select ${NEW_ID}, ${columns} from sessions, live
     where id = '${sample}' and live.active < 1000000 and live.pending < 1000000 returning *`,
  ];
}

/** Deletes pending sessions but the sample, because a workspace may only have so many. */
export async function clearPending(sql: Sql, sample: string): Promise<void> {
  await sql`delete from sessions where status = 'pending' and id <> ${sample}`;
}

/** Copies of the sample, two minutes apart, skewed as real ones are: one status and a few callers have most. */
export async function fillSessions(sql: Sql, sample: string, rows: number): Promise<void> {
  const filled = [
    'id',
    'status',
    'created_at',
    'started_at',
    'ended_at',
    'ended_reason',
    'end_user_id',
    'caller_number',
  ];
  const columns = (await columnsBut(sql, filled)).join(', ');
  await sql`set statement_timeout = 0`;
  await sql.unsafe(`
    insert into sessions (${filled.join(', ')}, ${columns})
    select ${NEW_ID}, made.status, made.at, case when made.status <> 'pending' then made.at end,
      case when made.status in ('completed', 'failed') then made.at end,
      case made.status when 'completed' then 'hangup' when 'failed' then 'error' end,
      case when random() < 0.5 then 'user_' || floor(${rows} / 20 * power(random(), 3)) end,
      case when random() < 0.3 then '+4930' || floor(${rows} / 40 * power(random(), 3)) end,
      ${columns}
    from (select now() - (${rows} - i) * interval '2 minutes' as at,
        case when i > ${rows} - 50 then 'active' when random() < 0.03 then 'failed' else 'completed' end as status
      from generate_series(1, ${rows}) i) as made, sessions
    where sessions.id = '${sample}'
    order by made.at`);
  await sql`vacuum (analyze) sessions`;
}
