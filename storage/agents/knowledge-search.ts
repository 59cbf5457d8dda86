/**
 * Search in knowledge: passages with any word of a question, those with more of them first. What one search may cost is bounded,
 * however long the question and however large the sources: only the rarest words are looked up, by the statistics of Postgres; only
 * passages with the rarest of these are candidates, as many as can be ranked quickly; the index is walked once; and the whole
 * has the time of a statement (LIMITS.statements).
 */
import { LIMITS } from '../../contracts/limits.js';
import type { PinnedSource } from '../../contracts/ports/agents/agents.js';
import type { KnowledgeSearch, Passage } from '../../contracts/ports/agents/knowledge.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { wordsOf } from './knowledge-chunks.js';

const { query: MOST_CHARACTERS, words: MOST_WORDS, candidates: MOST_CANDIDATES } = LIMITS.knowledge;

interface Word {
  readonly lexeme: string;
  /** The part of all passages that have it, as far as Postgres knows; 0: few, or nothing is known yet. */
  readonly frequency: number;
}

interface Wanted {
  readonly id: string;
  readonly revision: number;
  readonly name: string;
  readonly passages: number;
}

/** The words of the question that are looked up, the rarest first; longer ones where nothing is known. */
const rarest = (tx: Transaction, question: string) => tx<Word[]>`
  select w.lexeme, coalesce(f.frequency, 0)::float8 as frequency
  from unnest(to_tsvector('english', ${question})) as w
  left join (
    select common.word, common.frequency from pg_stats s,
      unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) as common (word, frequency)
    where s.schemaname = current_schema() and s.tablename = 'knowledge_chunks' and s.attname = 'terms'
  ) as f on f.word = w.lexeme
  order by frequency, length(w.lexeme) desc, w.lexeme limit ${MOST_WORDS}`;

/** Those of the sources that the workspace has, as `s`, with their revisions as `r` and their place in the list. */
const owned = (sql: Sql | Transaction, workspaceId: string, sources: readonly PinnedSource[]) => sql`
  unnest(${sources.map(({ sourceId }) => sourceId)}::text[], ${sources.map(({ revision }) => revision)}::int[])
    with ordinality as wanted (id, revision, place)
  join knowledge_sources s on s.id = wanted.id and s.workspace_id = ${workspaceId}
  join knowledge_revisions r on r.source_id = s.id and r.revision = wanted.revision`;

const wantedOf = (tx: Transaction, workspaceId: string, sources: readonly PinnedSource[]) => tx<Wanted[]>`
  select s.id, s.name, r.revision, r.chunk_count as passages from ${owned(tx, workspaceId, sources)}`;

/** Contents are read only where they are told: they are kept apart from the rows. */
export const wholeKnowledge = async (
  sql: Sql,
  ...[workspaceId, sources, bytes]: Parameters<KnowledgeSearch['whole']>
): Promise<readonly Passage[]> => sql<Passage[]>`
  select "sourceId", source, text, 1::float8 as rank from (
    select s.id as "sourceId", s.name as source, r.content as text, wanted.place, sum(r.size_bytes) over () as bytes
    from ${owned(sql, workspaceId, sources)}) as attached
  where bytes <= ${bytes} and text <> '' order by place`;

/** As many words, from the rarest on, as are in no more passages than can be ranked; at least one. */
export function selective(words: readonly Word[], passages: number): readonly Word[] {
  let expected = 0;
  const beyond = words.findIndex(({ frequency }) => (expected += frequency * passages) > MOST_CANDIDATES);
  return beyond < 0 ? words : words.slice(0, Math.max(1, beyond));
}

const anyOf = (words: readonly Word[]): string =>
  words.map(({ lexeme }) => `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`).join(' | ');

const keyOf = (id: string, revision: number): string => `${id} ${revision}`;

type Found = Omit<Passage, 'source'>;

/** The sources are given by value and not joined: a join would walk the index once for each. */
const ranked = (tx: Transaction, sources: readonly Wanted[], words: readonly Word[], limit: number) => {
  const passages = sources.reduce((sum, { passages }) => sum + passages, 0);
  return tx<Found[]>`
    with candidates as materialized (
      select c.source_id, c.position, c.content, c.terms from knowledge_chunks c
      where c.terms @@ ${anyOf(selective(words, passages))}::tsquery
        and c.source_id = any(${sources.map(({ id }) => id)}::text[])
        and c.source_id || ' ' || c.revision = any(${sources.map(({ id, revision }) => keyOf(id, revision))}::text[])
      limit ${MOST_CANDIDATES}
    )
    select source_id as "sourceId", content as text, ts_rank(terms, ${anyOf(words)}::tsquery, 1) as rank
    from candidates order by rank desc, source_id, position limit ${limit}`;
};

/** Errors: `storage_busy` if it takes longer than a statement may. */
export const searchKnowledge = (
  sql: Sql,
  ...[workspaceId, sources, question, limit]: Parameters<KnowledgeSearch['search']>
): Promise<readonly Passage[]> =>
  sql.begin('read only', async (tx) => {
    // The plan depends on the words and on the sources.
    await tx`set local plan_cache_mode = force_custom_plan`;
    const words = await rarest(tx, wordsOf(question.slice(0, MOST_CHARACTERS).replaceAll('\0', ' ')));
    if (words.length === 0) return [];
    const wanted = await wantedOf(tx, workspaceId, sources);
    const names = new Map(wanted.map(({ id, name }) => [id, name]));
    const found = await ranked(tx, wanted, words, limit);
    return found.map((passage) => ({ ...passage, source: names.get(passage.sourceId) ?? '' }));
  }) as Promise<readonly Passage[]>;
