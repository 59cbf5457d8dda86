/**
 * Deletes sessions. Everything that belongs to one (items, deliveries, analysis, the row of its recording) goes with its
 * row; a recording's files follow (storage/recordings.ts). Running conversations, and sessions that can still be joined, stay.
 * Batches are bounded, so that no statement holds many rows.
 */
import { LIMITS } from '../../contracts/limits.js';
import type { SessionRemoval } from '../../contracts/ports/sessions/sessions.js';
import { answeringSession } from '../../contracts/sessions/session-states.js';
import { memberText } from '../../contracts/text/raw-json.js';
import type { Sql } from '../postgres/sql.js';
import { personsNumber } from './numbers.js';
import { isIn } from './states.js';

const { removedAtOnce } = LIMITS.session;

/** Whether a session has ended, or can no longer be joined though nobody has ended it yet. Needs the sessions as `s`. */
const isOver = (sql: Sql) => sql`
  (s.ended_at is not null or (${isIn(sql, answeringSession('joined'))} and s.expires_at <= now()))`;

export async function removeSession(sql: Sql, id: string, workspaceId: string): Promise<SessionRemoval> {
  const own = sql`s.id = ${id} and s.workspace_id = ${workspaceId}`;
  const { count } = await sql`delete from sessions s where ${own} and ${isOver(sql)}`;
  if (count > 0) return 'removed';
  const [row] = await sql`select from sessions s where ${own}`;
  return row ? 'live' : 'unknown';
}

/** Selects the sessions of one person. */
export type Whose =
  | { readonly endUserId: string }
  | { readonly callerNumber: string }
  | { readonly sessionIds: readonly string[] };

function condition(sql: Sql, whose: Whose) {
  if ('endUserId' in whose) return sql`s.end_user_id = ${whose.endUserId}`;
  if ('callerNumber' in whose) return sql`${personsNumber(sql)} = ${whose.callerNumber}`;
  return sql`s.id = any(${whose.sessionIds as string[]}::text[])`;
}

const belonging = (sql: Sql, whose: Whose, workspaceId: string) => sql`
  s.workspace_id = ${workspaceId} and ${condition(sql, whose)}`;

const READ_AT_ONCE = 500;

/** A member's value as written in commands: strings without quotes, everything else as in the JSON text. */
function valueOf(metadata: string, name: string): string | undefined {
  const text = memberText(metadata, name);
  return text?.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/**
 * The sessions whose metadata has this member. Metadata is parsed here: Postgres refuses some valid JSON (numbers beyond
 * its range, half a surrogate pair), which would fail the whole statement.
 */
export async function withMember(
  sql: Sql,
  [name, value]: readonly [name: string, value: string],
  workspaceId: string,
): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ;) {
    const rows = await sql<{ id: string; metadata: string }[]>`
      select id, metadata from sessions where workspace_id = ${workspaceId} and id > ${after} and metadata <> '{}'
      order by id limit ${READ_AT_ONCE}`;
    for (const { id, metadata } of rows) if (valueOf(metadata, name) === value) found.push(id);
    if (rows.length < READ_AT_ONCE) return found;
    after = rows.at(-1)?.id ?? '';
  }
}

/** Removes some of a person's sessions and returns their ids; none if none is left. */
export async function removeSomeOf(sql: Sql, whose: Whose, workspaceId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    delete from sessions where id in (
      select s.id from sessions s where ${belonging(sql, whose, workspaceId)} and ${isOver(sql)}
      order by s.id limit ${removedAtOnce} for update)
    returning id`;
  return rows.map(({ id }) => id);
}

export async function countLiveOf(sql: Sql, whose: Whose, workspaceId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from sessions s
    where ${belonging(sql, whose, workspaceId)} and not ${isOver(sql)}`;
  return row?.count ?? 0;
}

export interface Traces {
  readonly id: string;
  readonly createdAt: Date;
  readonly status: string;
  /** Messages, tool calls and their results. */
  readonly items: number;
  readonly recorded: boolean;
}

/** The data kept about a person, newest first; at most a thousand sessions. */
export const tracesOf = (sql: Sql, whose: Whose, workspaceId: string): Promise<Traces[]> => sql<Traces[]>`
  select s.id, s.created_at as "createdAt", s.status,
    (select count(*)::int from session_items i where i.session_id = s.id) as items,
    exists (select from recording_parts r where r.session_id = s.id) as recorded
  from sessions s where ${belonging(sql, whose, workspaceId)} order by s.position desc limit 1000`;

/** Most batches of one sweep; the rest waits for the next. */
const BATCHES = 50;

/** Removes sessions that ended more than `days` ago, oldest first. Skips rows that another process has locked. */
export async function removeExpired(sql: Sql, days: number): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const { count } = await sql`
      delete from sessions where id in (
        select id from sessions where ended_at < now() - ${days}::int * interval '1 day'
        order by ended_at limit ${removedAtOnce} for update skip locked)`;
    if (count < removedAtOnce) return;
  }
}
