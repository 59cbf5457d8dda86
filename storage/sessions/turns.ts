/** The turns of a conversation in the database: a row each, written when the turn is heard and again when more is known. */
import type { Prices } from '../../contracts/sessions/prices.js';
import type { RunningSession, SessionRecord } from '../../contracts/ports/sessions/sessions.js';
import type { Language } from '../../contracts/speech/languages.js';
import type { SessionFigures } from '../../contracts/sessions/turn-report.js';
import type { Turn } from '../../contracts/sessions/turns.js';
import { transfersOf } from '../phone/phone-transfers.js';
import { repeatable } from '../postgres/once-more.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import type { Owned } from './owned.js';

/**
 * One statement. Drops late reports about a session that was deleted, or taken over by another process.
 */
export async function keepTurn(sql: Sql, { id, ownerId }: Owned, turn: Turn): Promise<void> {
  const { number, turnId, at, ...content } = turn;
  await repeatable(sql`
    with owned as (select id from sessions where id = ${id} and owner_id = ${ownerId} for share)
    insert into session_turns (session_id, number, turn_id, at, content, failed)
    select owned.id, ${number}::int, ${turnId}::int, ${at}::timestamptz, ${JSON.stringify(content)},
      ${turn.error !== null}::boolean from owned
    on conflict (session_id, number) do update set
      turn_id = excluded.turn_id, at = excluded.at, content = excluded.content, failed = excluded.failed`);
}

type Row = Pick<Turn, 'number' | 'turnId' | 'at'> & { readonly content: string };

export async function turnsOf(sql: Sql | Transaction, sessionId: string): Promise<readonly Turn[]> {
  const rows = await sql<Row[]>`
    select number, turn_id as "turnId", at, content from session_turns
    where session_id = ${sessionId} order by number`;
  return rows.map(({ content, ...row }) => ({ ...row, ...(JSON.parse(content) as object) }) as Turn);
}

/** The number of the last turn, 0 if there is none; and the language of the call, if its agent hears several. */
export async function lastTurn(
  sql: Sql,
  sessionId: string,
): Promise<Pick<RunningSession, 'lastTurn' | 'language'>> {
  const [row] = await sql<{ number: number; language: Language | null }[]>`
    select number, content::json ->> 'language' as language from session_turns
    where session_id = ${sessionId} order by number desc limit 1`;
  return { lastTurn: row?.number ?? 0, ...(row?.language && { language: row.language }) };
}

export const pricesOf = (prices: string | null): Prices | null =>
  prices === null ? null : (JSON.parse(prices) as Prices);

/** The report on an ended session. */
export async function reportOf(
  tx: Transaction,
  { id, durationSeconds, source }: SessionRecord,
  prices: string | null,
): Promise<SessionFigures> {
  const transfers = source === 'phone' && { transfers: await transfersOf(tx, id) };
  return { turns: await turnsOf(tx, id), ...transfers, prices: pricesOf(prices), durationSeconds };
}
