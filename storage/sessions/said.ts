/**
 * Search in transcripts. The words of a session are indexed in its row once it has ended and its last items are written,
 * by Postgres' `simple` configuration, which treats all languages alike. Older sessions are indexed over time, newest
 * first.
 */
import { LIMITS } from '../../contracts/limits.js';
import { wordsOf } from '../agents/knowledge-terms.js';
import type { Sql, Transaction } from '../postgres/sql.js';

const AT_A_TIME = 50;
/** Most batches of one call of `keepSaid`; the rest waits for the next. */
const MOST_TIMES = 20;

const unsaid = (tx: Transaction) => tx<{ id: string }[]>`
  select id from sessions
  where terms is null and ended_at is not null and source <> 'dashboard'
    and ended_at < now() - 2 * ${LIMITS.session.lastWordsMs}::int * interval '1 millisecond'
  order by ended_at desc limit ${AT_A_TIME} for no key update skip locked`;

/** The words said in each of these sessions, prepared for the search. */
async function wordsSaid(tx: Transaction, ids: readonly string[]): Promise<readonly string[]> {
  const items = await tx<{ id: string; content: string }[]>`
    select session_id as id, content from session_items
    where session_id = any(${ids as string[]}) and type = 'message' order by session_id, position`;
  const said = new Map<string, string>();
  for (const { id, content } of items) {
    const { content: text } = JSON.parse(content) as { readonly content: string };
    said.set(id, `${said.get(id) ?? ''}${text}\n`.slice(0, LIMITS.session.searchedLength));
  }
  return ids.map((id) => wordsOf((said.get(id) ?? '').replaceAll('\0', ' ')));
}

/** Indexes the words of some sessions without any. Returns their number. */
const keepSome = (sql: Sql): Promise<number> =>
  sql.begin(async (tx) => {
    const ids = (await unsaid(tx)).map(({ id }) => id);
    if (ids.length === 0) return 0;
    await tx`
      update sessions s set terms = strip(to_tsvector('simple', w.words))
      from unnest(${ids}::text[], ${await wordsSaid(tx, ids)}::text[]) as w (id, words) where s.id = w.id`;
    return ids.length;
  }) as Promise<number>;

/** Indexes the words of sessions that have ended since; at most MOST_TIMES batches. */
export async function keepSaid(sql: Sql): Promise<void> {
  for (let times = 0; times < MOST_TIMES; times += 1) if ((await keepSome(sql)) < AT_A_TIME) return;
}

/**
 * Whether all these words were said. Words of three letters or more also match as prefixes; so do words with non-ASCII
 * letters. Needs the sessions as `s`.
 */
export const saidAll = (sql: Sql | Transaction, search: string) => sql`
  s.terms @@ regexp_replace(
    plainto_tsquery('simple', ${wordsOf(search)})::text,
    ${`'([^']{3,}|[^'\\x01-\\x7f]+)'( |$)`}, ${`'\\1':*\\2`}, 'g')::tsquery`;
