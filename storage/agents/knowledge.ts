/**
 * Knowledge sources (contracts/ports/agents/knowledge.ts). Each content is a revision, cut into passages for full-text search;
 * the newest revision and those pinned by versions are kept. Changes of one source run one after the other.
 */
import { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import type { PinnedSource } from '../../contracts/ports/agents/agents.js';
import type {
  Knowledge,
  KnowledgeDetail,
  KnowledgeSearch,
  KnowledgeSource,
  SourceFile,
  WordSearch,
} from '../../contracts/ports/agents/knowledge.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import type { AgentReferences } from '../../contracts/ports/agents/tools.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { passagesOf } from './knowledge-chunks.js';
import { configurationOf, languageOfText } from './knowledge-language.js';
import { rankedByWords, searchKnowledge, toldPassages, wholeKnowledge } from './knowledge-search.js';
import { keepStatistics } from './knowledge-statistics.js';
import { spacedOf, terms } from './knowledge-terms.js';
import { listed, positionAfter, wantedRows } from '../page.js';
import { isFound } from '../search.js';

const MOST_AGENTS = 1000;
const PASSAGES_A_STATEMENT = 200;

/** `model`: of embeddings; null without one. */
const columns = (sql: Sql | Transaction, model: string | null) => sql`
  s.id, s.workspace_id as "workspaceId", s.name, s.description, s.revision, r.file_name as "fileName",
  r.size_bytes as "sizeBytes", r.chunk_count as "chunkCount", r.language,
  case when ${model}::text is null then 'off' when r.embedded_model = ${model} then 'done'
    when r.embedding_failures > 0 then 'failed' else 'pending' end as indexing, s.created_at as "createdAt", s.updated_at as "updatedAt"`;

const newest = (sql: Sql | Transaction) => sql`
  knowledge_sources s join knowledge_revisions r on r.source_id = s.id and r.revision = s.revision`;

async function list(
  sql: Sql,
  model: string | null,
  workspaceId: string,
  search: string,
  page: PageRequest,
): Promise<Listed<KnowledgeSource>> {
  const where = sql`
    s.workspace_id = ${workspaceId}
    ${isFound(sql, search, sql`s.name`, sql`s.description`)}`;
  const rows = await sql<(KnowledgeSource & { position: string })[]>`
    select ${columns(sql, model)}, s.position::text as position from ${newest(sql)}
    where ${where} and s.position < ${positionAfter(page)}
    order by s.position desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total
    ? await sql`select count(*)::int as total from knowledge_sources s where ${where}`
    : [];
  const total = (counted?.['total'] as number | undefined) ?? null;
  return listed(rows, page, total, ({ position: _, ...source }) => source);
}

async function read(
  sql: Sql | Transaction,
  model: string | null,
  id: string,
  workspaceId: string,
): Promise<KnowledgeDetail | undefined> {
  const [row] = await sql<KnowledgeDetail[]>`
    select ${columns(sql, model)}, r.content from ${newest(sql)} where s.id = ${id} and s.workspace_id = ${workspaceId}`;
  return row;
}

async function insertPassages(
  tx: Transaction,
  { sourceId, revision }: PinnedSource,
  from: number,
  passages: readonly string[],
  language: string,
): Promise<void> {
  await tx`
    insert into knowledge_chunks (source_id, revision, position, content, terms)
    select ${sourceId}, ${revision}, ${from} + place, content, ${terms(tx, configurationOf(language), tx`words`)}
    from unnest(${passages as string[]}::text[], ${passages.map(spacedOf)}::text[])
      with ordinality as p (content, words, place)`;
}

/** Writes a revision with its passages. */
async function insertRevision(tx: Transaction, pinned: PinnedSource, file: SourceFile): Promise<void> {
  const { sourceId, revision } = pinned;
  const language = languageOfText(file.content);
  await tx`
    insert into knowledge_revisions (source_id, revision, file_name, size_bytes, chunk_count, content, language)
    values (${sourceId}, ${revision}, ${file.fileName}, ${file.sizeBytes}, 0, ${file.content}, ${language})`;
  let count = 0;
  let batch: string[] = [];
  const flush = async (): Promise<void> => {
    await insertPassages(tx, pinned, count, batch, language);
    count += batch.length;
    batch = [];
  };
  for await (const passage of passagesOf(file.content)) {
    batch.push(passage);
    if (batch.length === PASSAGES_A_STATEMENT) await flush();
  }
  if (batch.length > 0) await flush();
  await tx`
    update knowledge_revisions set chunk_count = ${count}
    where source_id = ${sourceId} and revision = ${revision}`;
}

/** Deletes older revisions that no version pins. */
const dropOldRevisions = (tx: Transaction, { sourceId, revision }: PinnedSource) => tx`
  delete from knowledge_revisions r
  where r.source_id = ${sourceId} and r.revision <> ${revision} and not exists (
    select from version_knowledge v where v.source_id = r.source_id and v.revision = r.revision)`;

/** Agents whose draft or last version refers to the source: they keep it from being deleted, and are listed. */
const referring = (sql: Sql | Transaction, id: string) => sql`
  (select agent_id from agent_knowledge where source_id = ${id}
   union
   select v.agent_id from version_knowledge v join agents a on a.id = v.agent_id and a.last_version = v.number
   where v.source_id = ${id}) as referring`;

async function countReferring(sql: Sql | Transaction, id: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${referring(sql, id)}`;
  return row?.count ?? 0;
}

const remove = (sql: Sql, id: string, workspaceId: string): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [row] = await tx`
      select 1 from knowledge_sources where id = ${id} and workspace_id = ${workspaceId} for update`;
    if (!row) return false;
    const count = await countReferring(tx, id);
    if (count > 0) {
      const message = `Knowledge source is attached to ${count} agent(s); detach it and publish them first`;
      throw new ServiceError('conflict', { message });
    }
    await tx`delete from knowledge_sources where id = ${id}`;
    return true;
  }) as Promise<boolean>;

async function agents(sql: Sql, id: string, workspaceId: string): Promise<AgentReferences | undefined> {
  const [source] =
    await sql`select 1 from knowledge_sources where id = ${id} and workspace_id = ${workspaceId}`;
  if (!source) return undefined;
  const rows = await sql<{ id: string; name: string }[]>`
    select a.id, a.name from ${referring(sql, id)} join agents a on a.id = referring.agent_id
    order by a.name, a.id limit ${MOST_AGENTS}`;
  return {
    agents: [...rows],
    total: rows.length < MOST_AGENTS ? rows.length : await countReferring(sql, id),
  };
}

async function countPassages(sql: Sql, ids: readonly string[], workspaceId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select coalesce(sum(r.chunk_count), 0)::int as count from ${newest(sql)}
    where s.workspace_id = ${workspaceId} and s.id = any(${ids as string[]}::text[])`;
  return row?.count ?? 0;
}

export interface KnowledgeParts {
  readonly sql: Sql;
  readonly ids: Ids;
  /** The model of embeddings, where there is one. */
  readonly model?: string | undefined;
  /** There is a new revision. */
  readonly wrote?: (() => void) | undefined;
}

export function createKnowledge({
  sql,
  ids,
  model: named,
  wrote: told,
}: KnowledgeParts): Knowledge & KnowledgeSearch & WordSearch {
  const model = named ?? null;
  const statistics = keepStatistics(sql);
  const wrote = <Detail extends KnowledgeDetail | undefined>(detail: Detail): Detail => {
    statistics.wrote(detail?.chunkCount ?? 0);
    told?.();
    return detail;
  };
  return {
    list: (workspaceId, wanted, page) => list(sql, model, workspaceId, wanted ?? '', page),
    read: (id, workspaceId) => read(sql, model, id, workspaceId),
    remove: (id, workspaceId) => remove(sql, id, workspaceId),
    agents: (id, workspaceId) => agents(sql, id, workspaceId),
    countPassages: (sources, workspaceId) => countPassages(sql, sources, workspaceId),
    whole: (workspaceId, sources, bytes) => wholeKnowledge(sql, workspaceId, sources, bytes),
    search: (workspaceId, sources, question, limit) =>
      searchKnowledge(sql, workspaceId, sources, question, limit),
    ranked: (...of) => rankedByWords(sql, ...of),
    told: (...of) => toldPassages(sql, ...of),

    create: async ({ name, description, file }, workspaceId) => {
      const created = await (sql.begin(async (tx) => {
        const id = ids.next('knowledge');
        await tx`
          insert into knowledge_sources (id, workspace_id, name, description)
          values (${id}, ${workspaceId}, ${name}, ${description})`;
        await insertRevision(tx, { sourceId: id, revision: 1 }, file);
        return read(tx, model, id, workspaceId);
      }) as Promise<KnowledgeDetail>);
      return wrote(created);
    },

    change: async (id, workspaceId, { name, description, file }) => {
      const changed = await (sql.begin(async (tx) => {
        const [source] = await tx<{ revision: number }[]>`
          select revision from knowledge_sources
          where id = ${id} and workspace_id = ${workspaceId} for no key update`;
        if (!source) return undefined;
        const pinned = { sourceId: id, revision: source.revision + (file ? 1 : 0) };
        if (file) await insertRevision(tx, pinned, file);
        await tx`
          update knowledge_sources set name = coalesce(${name ?? null}, name),
            description = coalesce(${description ?? null}, description),
            revision = ${pinned.revision}, updated_at = now()
          where id = ${id}`;
        if (file) await dropOldRevisions(tx, pinned);
        return read(tx, model, id, workspaceId);
      }) as Promise<KnowledgeDetail | undefined>);
      return file ? wrote(changed) : changed;
    },
  };
}
