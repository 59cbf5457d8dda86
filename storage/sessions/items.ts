/** The lines of a conversation's record on their way into the database; what a tool answered is cut to its bound. */
import { LIMITS } from '../../contracts/limits.js';
import type { SessionItem } from '../../contracts/ports/sessions.js';
import { firstBytes } from '../../contracts/text.js';
import type { Sql } from '../sql.js';
import { isForeignKey } from '../failure.js';

const cut = (text: string): string => firstBytes(text, LIMITS.session.toolOutputBytes);

function kept(item: SessionItem): SessionItem {
  if (item.type !== 'tool_result') return item;
  const output = cut(item.output);
  const error = item.error === null ? null : cut(item.error);
  return {
    ...item,
    output,
    error,
    outputTruncated: item.outputTruncated || output.length < item.output.length,
  };
}

/** One statement. The last words of a session that has been deleted go with it. */
export async function appendItems(sql: Sql, sessionId: string, items: readonly SessionItem[]): Promise<void> {
  const rows = items.map(kept).map(({ type, turnId, createdAt, ...content }) => ({
    session_id: sessionId,
    type,
    turn_id: turnId,
    created_at: createdAt,
    content: JSON.stringify(content),
  }));
  if (rows.length === 0) return;
  await sql`insert into session_items ${sql(rows)}`.catch((error: unknown) => {
    if (!isForeignKey(error)) throw error;
  });
}
