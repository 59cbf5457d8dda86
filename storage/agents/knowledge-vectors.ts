/**
 * Vectors of passages. Sources whose passages have none of the model yet are a queue, which any gateway works on: one is
 * claimed for a while, its passages are kept in batches, and whoever dies over it leaves the rest to the next.
 */
import { LIMITS } from '../../contracts/limits.js';
import type { PinnedSource } from '../../contracts/ports/agents/agents.js';
import type {
  EmbeddedSource,
  KnowledgeVectors,
  RankedPassage,
  UnembeddedPassage,
  VectorPage,
} from '../../contracts/ports/agents/knowledge-vectors.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { keyOf, owned } from './knowledge-search.js';

const { claimMs, retryMs, batch, pageRows } = LIMITS.embedding;

const keys = (sources: readonly PinnedSource[]): string[] =>
  sources.map(({ sourceId, revision }) => keyOf(sourceId, revision));

const ids = (sources: readonly PinnedSource[]): string[] => sources.map(({ sourceId }) => sourceId);

const literal = (vector: Float32Array): string => `{${vector.join(',')}}`;

const claim = async (sql: Sql): Promise<PinnedSource | undefined> => {
  const [row] = await sql<PinnedSource[]>`
    update knowledge_revisions r set embedding_due = now() + ${claimMs}::int * interval '1 millisecond'
    from (
      select source_id, revision from knowledge_revisions where embedding_due <= now()
      order by embedding_due limit 1 for no key update skip locked
    ) as due
    where r.source_id = due.source_id and r.revision = due.revision
    returning r.source_id as "sourceId", r.revision`;
  return row;
};

const unembedded = (sql: Sql, { sourceId, revision }: PinnedSource, model: string) => sql<
  UnembeddedPassage[]
>`
  select c.position, c.content as text from knowledge_chunks c
  where c.source_id = ${sourceId} and c.revision = ${revision} and not exists (
    select from knowledge_vectors v where v.source_id = c.source_id and v.revision = c.revision
      and v.position = c.position and v.model = ${model})
  order by c.position limit ${batch}`;

/** Passages that have gone meanwhile get none. */
async function keep(
  sql: Sql,
  ...[{ sourceId, revision }, model, passages, vectors]: Parameters<KnowledgeVectors['keep']>
): Promise<void> {
  await sql`
    insert into knowledge_vectors (source_id, revision, position, model, embedding)
    select c.source_id, c.revision, c.position, ${model}, v.embedding::real[]
    from unnest(${passages.map(({ position }) => position)}::int[], ${vectors.map(literal)}::text[])
      as v (position, embedding)
    join knowledge_chunks c on c.source_id = ${sourceId} and c.revision = ${revision} and c.position = v.position
    on conflict (source_id, revision, position) do update set model = excluded.model, embedding = excluded.embedding`;
  await sql`
    update knowledge_revisions set embedding_due = now() + ${claimMs}::int * interval '1 millisecond'
    where source_id = ${sourceId} and revision = ${revision}`;
}

const finish = (sql: Sql, { sourceId, revision }: PinnedSource, model: string) => sql`
  update knowledge_revisions set embedded_model = ${model}, embedding_due = 'infinity', embedding_failures = 0
  where source_id = ${sourceId} and revision = ${revision}`;

const postpone = (sql: Sql, { sourceId, revision }: PinnedSource) => sql`
  update knowledge_revisions set embedding_failures = embedding_failures + 1,
    embedding_due = now() + (${retryMs as readonly number[] as number[]}::int[])[least(embedding_failures + 1, ${retryMs.length})] * interval '1 millisecond'
  where source_id = ${sourceId} and revision = ${revision}`;

const embedded = (
  sql: Sql | Transaction,
  workspaceId: string,
  sources: readonly PinnedSource[],
  model: string,
) =>
  sql<EmbeddedSource[]>`
    select s.id as "sourceId", r.revision, r.chunk_count as passages, coalesce(cardinality((
      select v.embedding from knowledge_vectors v where v.source_id = s.id and v.revision = r.revision limit 1)), 0) as dimensions
    from ${owned(sql, workspaceId, sources)}
    where r.embedded_model = ${model} and r.chunk_count > 0 order by wanted.place`;

interface PageRow {
  readonly positions: readonly number[] | null;
  readonly vectors: Uint8Array;
}

/** One after the other: the database puts the vectors of a page together, so that a page is read at once. */
async function* vectors(
  sql: Sql,
  { sourceId, revision, dimensions }: EmbeddedSource,
): AsyncGenerator<VectorPage> {
  for (let after = -1; ;) {
    const [page] = await sql<PageRow[]>`
      select array_agg(position order by position) as positions,
        string_agg(array_send(embedding), ''::bytea order by position) as vectors
      from (
        select position, embedding from knowledge_vectors
        where source_id = ${sourceId} and revision = ${revision} and position > ${after}
          and cardinality(embedding) = ${dimensions}
        order by position limit ${pageRows}
      ) as page`;
    const last = page?.positions?.at(-1);
    if (!page?.positions || last === undefined) return;
    yield { dimensions, positions: page.positions, vectors: page.vectors };
    after = last;
  }
}

/** By the extension pgvector, which reads arrays as vectors. */
const nearest = (sql: Sql, sources: readonly EmbeddedSource[], query: Float32Array, most: number) => sql<
  RankedPassage[]
>`
  select source_id as "sourceId", revision, position, 1 - distance as rank from (
    select source_id, revision, position,
      (embedding::vector <=> ${literal(query)}::real[]::vector)::float8 as distance
    from knowledge_vectors
    where source_id = any(${ids(sources)}::text[]) and source_id || ' ' || revision = any(${keys(sources)}::text[])
      and cardinality(embedding) = ${query.length}
  ) as compared order by distance limit ${most}`;

export interface KnowledgeVectorsParts {
  /** The gateway's own, for the queue. */
  readonly sql: Sql;
  readonly asked: Sql;
}

export const createKnowledgeVectors = ({ sql, asked }: KnowledgeVectorsParts): KnowledgeVectors => ({
  async begin(model) {
    await sql`
      update knowledge_revisions set embedding_due = now()
      where embedded_model is distinct from ${model} and embedding_due = 'infinity'`;
    const [row] = await sql<{ known: boolean }[]>`select to_regtype('vector') is not null as known`;
    return { comparesItself: row?.known ?? false };
  },
  claim: () => claim(sql),
  unembedded: (source, model) => unembedded(sql, source, model),
  keep: (source, ...rest) => keep(sql, source, ...rest),
  finish: async (source, model) => void (await finish(sql, source, model)),
  postpone: async (source) => void (await postpone(sql, source)),
  embedded: (workspaceId, sources, model) => embedded(asked, workspaceId, sources, model),
  vectors: (source) => vectors(asked, source),
  nearest: (sources, query, most) => nearest(asked, sources, query, most),
});
