/** Writes the items of a conversation's record; outputs of tools are cut to their bound. */
import { LIMITS } from '../../contracts/limits.js';
import type { SessionItem } from '../../contracts/ports/sessions/sessions.js';
import { cutResultBytes } from '../../contracts/tools/cut.js';
import { repeatable } from '../postgres/once-more.js';
import type { Sql } from '../postgres/sql.js';
import type { Owned } from './owned.js';

/** The table of each kind of line: the previous release does not know those of the second. */
const TABLES: Readonly<Record<SessionItem['type'], 'session_items' | 'session_events'>> = {
  message: 'session_items',
  tool_call: 'session_items',
  tool_result: 'session_items',
  'llm.endpoint_error': 'session_events',
};

const cut = (text: string): string => cutResultBytes(text, LIMITS.session.toolOutputBytes);

function kept(item: SessionItem): SessionItem {
  if (item.type !== 'tool_result') return item;
  const output = cut(item.output);
  const error = item.error === null ? null : cut(item.error);
  return {
    ...item,
    output,
    error,
    outputTruncated: item.outputTruncated || output !== item.output,
  };
}

/**
 * One statement for each table. Drops the last items of a session that was deleted, or taken over: the new owner knows only the items
 * that existed then. Existing items are not written again, since the statement is repeated if its connection was lost.
 */
export async function appendItems(sql: Sql, owned: Owned, items: readonly SessionItem[]): Promise<void> {
  for (const table of new Set(Object.values(TABLES)))
    await appendTo(
      sql,
      table,
      owned,
      items.filter(({ type }) => TABLES[type] === table),
    );
}

async function appendTo(
  sql: Sql,
  table: string,
  { id, ownerId }: Owned,
  items: readonly SessionItem[],
): Promise<void> {
  const rows = items.map(kept).map(({ type, turnId, createdAt, ...content }) => ({
    type,
    turn_id: turnId,
    created_at: createdAt.toISOString(),
    content: JSON.stringify(content),
  }));
  if (rows.length === 0) return;
  await repeatable(sql`
    with owned as (select id from sessions where id = ${id} and owner_id = ${ownerId} for share)
    insert into ${sql(table)} (session_id, type, turn_id, created_at, content)
    select owned.id, i.type, i.turn_id, i.created_at, i.content
    from owned, json_to_recordset(${JSON.stringify(rows)}::text::json)
      as i(type text, turn_id integer, created_at timestamptz, content text)
    where not exists (
      select from ${sql(table)} k
      where k.session_id = owned.id and k.turn_id = i.turn_id and k.created_at = i.created_at
        and k.type = i.type and k.content = i.content)`);
}
