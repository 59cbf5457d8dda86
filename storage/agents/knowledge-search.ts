/**
 * Search in knowledge: passages with words of a question, those with more and rarer ones first. What one search may cost is bounded,
 * however long the question and however large the sources: only the rarest words are looked up, by the statistics of Postgres; only
 * passages with the rarest of these are candidates, as many as can be ranked quickly; the index is walked once; the best of the
 * candidates are weighed word by word; and the whole has the time of a statement (LIMITS.statements).
 */
import { LIMITS } from '../../contracts/limits.js';
import type { PinnedSource } from '../../contracts/ports/agents/agents.js';
import type { KnowledgeSearch, Passage, WordSearch } from '../../contracts/ports/agents/knowledge.js';
import type { PassagePlace, RankedPassage } from '../../contracts/ports/agents/knowledge-vectors.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { configurationOf } from './knowledge-language.js';
import { type Asked, askedOf } from './knowledge-question.js';
import { plain } from './knowledge-terms.js';

const { words: MOST_WORDS, candidates: MOST_CANDIDATES, weighed: MOST_WEIGHED } = LIMITS.knowledge;

export interface Word {
  readonly lexeme: string;
  /** The part of all passages that have it, as far as Postgres knows; 0: few, or nothing is known yet. */
  readonly frequency: number;
  /** How much it counts in the question, 1 at most. */
  readonly weight: number;
}

interface Wanted {
  readonly id: string;
  readonly revision: number;
  readonly name: string;
  readonly passages: number;
  readonly language: string | null;
}

/** The words of the question that are looked up: those that say most. */
const telling = (tx: Transaction, asked: readonly Asked[]) => tx<Word[]>`
  with asked as (
    select ${plain(tx, tx`u.lexeme`)} as lexeme, max(a.weight) as weight
    from unnest(
      ${asked.map(({ configuration }) => configuration)}::text[], ${asked.map(({ words }) => words)}::text[],
      ${asked.map(({ weight }) => weight)}::float8[]) as a (configuration, words, weight),
      unnest(to_tsvector(a.configuration::regconfig, a.words)) as u
    group by 1
  )
  select w.lexeme, w.weight, coalesce(f.frequency, 0)::float8 as frequency
  from asked as w
  left join (
    select common.word, common.frequency from pg_stats s,
      unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) as common (word, frequency)
    where s.schemaname = current_schema() and s.tablename = 'knowledge_chunks' and s.attname = 'terms'
  ) as f on f.word = w.lexeme
  order by w.weight * -ln(greatest(coalesce(f.frequency, 0), 0.00001)) desc, length(w.lexeme) desc, w.lexeme
  limit ${MOST_WORDS}`;

/** Those of the sources that the workspace has, as `s`, with their revisions as `r` and their place in the list. */
export const owned = (sql: Sql | Transaction, workspaceId: string, sources: readonly PinnedSource[]) => sql`
  unnest(${sources.map(({ sourceId }) => sourceId)}::text[], ${sources.map(({ revision }) => revision)}::int[])
    with ordinality as wanted (id, revision, place)
  join knowledge_sources s on s.id = wanted.id and s.workspace_id = ${workspaceId}
  join knowledge_revisions r on r.source_id = s.id and r.revision = wanted.revision`;

const wantedOf = (tx: Transaction, workspaceId: string, sources: readonly PinnedSource[]) => tx<Wanted[]>`
  select s.id, s.name, r.revision, r.chunk_count as passages, r.language from ${owned(tx, workspaceId, sources)}`;

/** Contents are read only where they are told: they are kept apart from the rows. */
export const wholeKnowledge = async (
  sql: Sql,
  ...[workspaceId, sources, bytes]: Parameters<KnowledgeSearch['whole']>
): Promise<readonly Passage[]> => sql<Passage[]>`
  select "sourceId", source, text, 1::float8 as rank, 'whole' as by from (
    select s.id as "sourceId", s.name as source, r.content as text, wanted.place, sum(r.size_bytes) over () as bytes
    from ${owned(sql, workspaceId, sources)}) as attached
  where bytes <= ${bytes} and text <> '' order by place`;

/** As many words, from the rarest on, as are in no more passages than can be ranked; at least one. */
export function selective(words: readonly Word[], passages: number): readonly Word[] {
  const rarest = [...words].sort((a, b) => a.frequency - b.frequency);
  let expected = 0;
  const beyond = rarest.findIndex(({ frequency }) => (expected += frequency * passages) > MOST_CANDIDATES);
  return beyond < 0 ? words : rarest.slice(0, Math.max(1, beyond));
}

const quoted = ({ lexeme }: Word): string => `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

const anyOf = (words: readonly Word[]): string => words.map(quoted).join(' | ');

export const keyOf = (id: string, revision: number): string => `${id} ${revision}`;

/** A passage that has words of the question: which of them by their place in the list, from 1 on. */
export interface Matched extends PassagePlace {
  /** Its words. */
  readonly length: number;
  readonly places: readonly number[];
}

/** The sources are given by value and not joined: a join would walk the index once for each. */
const matching = (tx: Transaction, sources: readonly Wanted[], words: readonly Word[], passages: number) =>
  tx<Matched[]>`
    with candidates as materialized (
      select c.source_id, c.revision, c.position, c.terms from knowledge_chunks c
      where c.terms @@ ${anyOf(selective(words, passages))}::tsquery
        and c.source_id = any(${sources.map(({ id }) => id)}::text[])
        and c.source_id || ' ' || c.revision = any(${sources.map(({ id, revision }) => keyOf(id, revision))}::text[])
      limit ${MOST_CANDIDATES}
    ), best as materialized (
      -- Stripped, they are read from where they lie once, and not for each word.
      select source_id, revision, position, strip(terms) as terms from candidates
      order by ts_rank(terms, ${anyOf(words)}::tsquery, 1) desc, source_id, position limit ${MOST_WEIGHED}
    ), words as materialized (
      select word::tsquery as word, place from unnest(${words.map(quoted)}::text[]) with ordinality as w (word, place)
    )
    select source_id as "sourceId", revision, position, length(terms) as length,
      array(select place::int from words where terms @@ word) as places
    from best`;

/** How much of a passage's length counts against it. */
const BY_LENGTH = 0.4;

/** Of the words of the question what the passages have of them, rare ones counting more (inverse document frequency); best first. */
export function weighed(words: readonly Word[], matched: readonly Matched[], passages: number) {
  const counts = words.map((_, index) => matched.filter(({ places }) => places.includes(index + 1)).length);
  const worth = words.map(({ weight, frequency }, index) => {
    const having = Math.max(counts[index] ?? 0, frequency * passages);
    return weight * Math.log(1 + (Math.max(passages, having) - having + 0.5) / (having + 0.5));
  });
  const usual = matched.reduce((sum, { length }) => sum + length, 0) / matched.length;
  return matched
    .map((passage) => {
      const sum = passage.places.reduce((total, place) => total + (worth[place - 1] ?? 0), 0);
      return { ...passage, rank: sum / (1 - BY_LENGTH + (BY_LENGTH * passage.length) / usual) };
    })
    .sort((a, b) => b.rank - a.rank);
}

/** The best by words. */
async function ranked(
  tx: Transaction,
  ...[workspaceId, sources, question, limit]: Parameters<WordSearch['ranked']>
): Promise<readonly RankedPassage[]> {
  // The plan depends on the words and on the sources.
  await tx`set local plan_cache_mode = force_custom_plan`;
  const wanted = await wantedOf(tx, workspaceId, sources);
  const passages = wanted.reduce((sum, { passages }) => sum + passages, 0);
  const configurations = [...new Set(wanted.map(({ language }) => configurationOf(language)))];
  const words = await telling(tx, askedOf(question, configurations));
  if (words.length === 0) return [];
  const matched = await matching(tx, wanted, words, passages);
  return weighed(words, matched, passages).slice(0, limit);
}

export const rankedByWords = (sql: Sql, ...of: Parameters<WordSearch['ranked']>) =>
  sql.begin('read only', (tx) => ranked(tx, ...of)) as Promise<readonly RankedPassage[]>;

/** The texts of these, in their order. */
export async function toldPassages(
  sql: Sql | Transaction,
  ...[workspaceId, found]: Parameters<WordSearch['told']>
): Promise<readonly Passage[]> {
  return sql<Passage[]>`
    select c.source_id as "sourceId", s.name as source, c.content as text, f.rank, f.by from unnest(
        ${found.map(({ sourceId }) => sourceId)}::text[], ${found.map(({ revision }) => revision)}::int[],
        ${found.map(({ position }) => position)}::int[], ${found.map(({ rank }) => rank)}::float8[],
        ${found.map(({ by }) => by)}::text[])
      with ordinality as f (id, revision, position, rank, by, place)
    join knowledge_chunks c on c.source_id = f.id and c.revision = f.revision and c.position = f.position
    join knowledge_sources s on s.id = c.source_id and s.workspace_id = ${workspaceId}
    order by f.place`;
}

/** Errors: `storage_busy` if it takes longer than a statement may. */
export const searchKnowledge = (
  sql: Sql,
  ...[workspaceId, sources, question, limit]: Parameters<KnowledgeSearch['search']>
): Promise<readonly Passage[]> =>
  sql.begin('read only', async (tx) => {
    const found = await ranked(tx, workspaceId, sources, question, limit);
    const byWords = found.map((passage) => ({ ...passage, by: 'words' as const }));
    return byWords.length === 0 ? [] : toldPassages(tx, workspaceId, byWords);
  }) as Promise<readonly Passage[]>;
