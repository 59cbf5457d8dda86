/**
 * Lists of sessions, newest first: by time of creation, then by position. Each statement uses the indexes of
 * storage/migrations/0001-schema.sql; rows are read for the sessions of the page only.
 */
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import {
  SESSION_STATUSES,
  type SessionFilter,
  type SessionRecord,
} from '../../contracts/ports/sessions/sessions.js';
import { listed, NOWHERE, wantedRows } from '../page.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { personsNumber } from './numbers.js';
import { columns, recordOf, type Row } from './rows.js';
import { saidAll } from './said.js';

/** A list: a workspace's sessions that pass the filter. */
export interface SessionList {
  readonly workspaceId: string;
  readonly filter: SessionFilter;
}

/**
 * Written as literals instead of parameters, so that the planner uses their frequencies: nearly all sessions are
 * `completed`, and few are anything else. Words that are no status find nothing.
 */
function byStatus(sql: Sql | Transaction, { statuses }: SessionFilter) {
  if (!statuses) return sql`s.status <> 'pending'`;
  const known = SESSION_STATUSES.filter((status) => statuses.includes(status));
  return known.length === 0 ? sql`false` : sql`s.status in (${sql.unsafe(`'${known.join("','")}'`)})`;
}

/** All conditions except the latest time. Needs the sessions as `s`. */
function conditions(sql: Sql | Transaction, { workspaceId, filter }: SessionList) {
  const { agentId, callerNumber, direction, endUserId, createdAfter, search } = filter;
  return sql`
    s.workspace_id = ${workspaceId} and s.source <> 'dashboard' and ${byStatus(sql, filter)}
    ${agentId === undefined ? sql`` : sql`and s.agent_id = ${agentId}`}
    ${callerNumber === undefined ? sql`` : sql`and ${personsNumber(sql)} = ${callerNumber}`}
    ${direction === undefined ? sql`` : sql`and coalesce(s.direction, 'inbound') = ${direction}`}
    ${endUserId === undefined ? sql`` : sql`and s.end_user_id = ${endUserId}`}
    ${createdAfter ? sql`and s.created_at >= ${createdAfter}` : sql``}
    ${search === undefined ? sql`` : sql`and ${saidAll(sql, search)}`}`;
}

const until = (sql: Sql | Transaction, { createdBefore }: SessionFilter) =>
  createdBefore ? sql`and s.created_at <= ${createdBefore}` : sql``;

/**
 * Sessions after the cursor's one, or, if that was deleted, after its former place. The filter's bound is part of the same
 * comparison: with two comparisons, the index scan would start at one and read on to the other.
 */
function behind(sql: Sql | Transaction, { createdBefore }: SessionFilter, after: string) {
  const moment = sql`coalesce(
    (select c.created_at from sessions c where c.position <= ${after}::bigint order by c.position desc limit 1),
    '-infinity')`;
  if (!createdBefore) return sql`and (s.created_at, s.position) < (${moment}, ${after}::bigint)`;
  return sql`and (s.created_at, s.position) < (
    least(${moment}, ${createdBefore}::timestamptz),
    case when ${moment} <= ${createdBefore}::timestamptz then ${after}::bigint else ${NOWHERE}::bigint end)`;
}

const rest = (sql: Sql | Transaction, filter: SessionFilter, { after }: PageRequest) =>
  after === undefined ? until(sql, filter) : behind(sql, filter, after);

/** The rows of a page; the index selects them before any row is read. */
export const pageRows = (sql: Sql | Transaction, list: SessionList, page: PageRequest) => sql<Row[]>`
  select ${columns(sql)} from (
    select s.position from sessions s
    where ${conditions(sql, list)} ${rest(sql, list.filter, page)}
    order by s.created_at desc, s.position desc offset ${page.offset} limit ${wantedRows(page)}
  ) as page join sessions s on s.position = page.position
  order by s.created_at desc, s.position desc`;

/** How many sessions the whole list has, counted exactly. */
export const total = (sql: Sql | Transaction, list: SessionList) => sql<{ count: number }[]>`
  select count(*)::int as count from sessions s where ${conditions(sql, list)} ${until(sql, list.filter)}`;

async function pageOf(
  sql: Sql | Transaction,
  list: SessionList,
  page: PageRequest,
): Promise<Listed<SessionRecord>> {
  const rows = await pageRows(sql, list, page);
  const [counted] = page.total ? await total(sql, list) : [];
  return listed(rows, page, counted?.count ?? null, recordOf);
}

/**
 * With a search, the statement is planned anew each time: frequent words are searched from the newest session on, rare
 * ones by their index, and only the words themselves tell which is better.
 */
export const listSessions = (
  sql: Sql,
  list: SessionList,
  page: PageRequest,
): Promise<Listed<SessionRecord>> =>
  list.filter.search === undefined
    ? pageOf(sql, list, page)
    : (sql.begin('read only', async (tx) => {
        await tx`set local plan_cache_mode = force_custom_plan`;
        return pageOf(tx, list, page);
      }) as Promise<Listed<SessionRecord>>);
