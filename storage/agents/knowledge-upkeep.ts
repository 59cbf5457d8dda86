/** Sources that the previous release has kept as English are kept again by their language, one after the other. */
import type { Sql, Transaction } from '../postgres/sql.js';
import { configurationOf, languageOfText } from './knowledge-language.js';
import { spacedOf, terms } from './knowledge-terms.js';

const PASSAGES_A_STATEMENT = 200;
/** Sources of one call; the rest waits for the next. */
const MOST_TIMES = 20;

interface Unread {
  readonly id: string;
  readonly revision: number;
  readonly content: string;
}

const unread = (tx: Transaction) => tx<Unread[]>`
  select source_id as id, revision, content from knowledge_revisions where language is null
  limit 1 for no key update skip locked`;

/** Resolves with the number of passages. */
async function keepFrom(
  tx: Transaction,
  { id, revision }: Unread,
  language: string,
  from: number,
): Promise<number> {
  const passages = await tx<{ position: number; content: string }[]>`
    select position, content from knowledge_chunks
    where source_id = ${id} and revision = ${revision} and position > ${from}
    order by position limit ${PASSAGES_A_STATEMENT}`;
  await tx`
    update knowledge_chunks c set terms = ${terms(tx, configurationOf(language), tx`p.words`)}
    from unnest(
      ${passages.map(({ position }) => position)}::int[], ${passages.map(({ content }) => spacedOf(content))}::text[])
      as p (position, words)
    where c.source_id = ${id} and c.revision = ${revision} and c.position = p.position`;
  return passages.at(-1)?.position ?? Infinity;
}

/** Whether there was one. */
const keepOne = (sql: Sql): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [source] = await unread(tx);
    if (!source) return false;
    const language = languageOfText(source.content);
    for (let from = -1; from < Infinity;) from = await keepFrom(tx, source, language, from);
    await tx`
      update knowledge_revisions set language = ${language}
      where source_id = ${source.id} and revision = ${source.revision}`;
    return true;
  }) as Promise<boolean>;

/** Errors: the database's. */
export async function keepWords(sql: Sql): Promise<void> {
  for (let times = 0; times < MOST_TIMES; times += 1) if (!(await keepOne(sql))) return;
}
