/**
 * Published versions (docs/contract/platform.md 6.4): immutable, with frozen tools and pinned revisions of knowledge.
 * Publishing locks the agent's row, so that version numbers are consecutive, and the tools and sources that it refers to.
 */
import { isDeepStrictEqual } from 'node:util';
import type {
  Agent,
  AgentVersion,
  AgentVersions,
  PinnedSource,
  PublishedAgents,
  RunnableAgent,
  VersionSummary,
} from '../../contracts/ports/agents/agents.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import type { FrozenTool } from '../../contracts/ports/agents/tools.js';
import { completeConfig, configHash } from '../../contracts/schemas/agent-merge.js';
import { completeTool } from '../../contracts/schemas/tools.js';
import { agentColumns } from './agents.js';
import { draftContent, frozenTools, holdContent } from './agent-content.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { listed, positionAfter, wantedRows } from '../page.js';

const summaryColumns = (sql: Sql | Transaction) => sql`
  v.number, v.title, v.description, v.config_hash as "configHash", v.published_at as "publishedAt"`;

async function list(
  sql: Sql,
  agentId: string,
  workspaceId: string,
  page: PageRequest,
): Promise<Listed<VersionSummary> | undefined> {
  const [agent] = await sql<{ total: number }[]>`
    select (select count(*)::int from agent_versions v where v.agent_id = a.id) as total
    from agents a where a.id = ${agentId} and a.workspace_id = ${workspaceId}`;
  if (!agent) return undefined;
  const rows = await sql<(VersionSummary & { position: string })[]>`
    select ${summaryColumns(sql)}, v.number::text as position from agent_versions v
    where v.agent_id = ${agentId} and v.number < ${positionAfter(page)}::bigint
    order by v.number desc offset ${page.offset} limit ${wantedRows(page)}`;
  return listed(rows, page, page.total ? agent.total : null, ({ position: _, ...summary }) => summary);
}

type StoredVersion = VersionSummary & { readonly config: unknown };

const versionOf = (agentId: string, { config, ...summary }: StoredVersion): AgentVersion => ({
  ...summary,
  agentId,
  config: completeConfig(config),
  updatedAt: summary.publishedAt,
});

async function read(
  sql: Sql | Transaction,
  agentId: string,
  workspaceId: string,
  number: number,
): Promise<AgentVersion | undefined> {
  const [row] = await sql<StoredVersion[]>`
    select ${summaryColumns(sql)}, v.config
    from agent_versions v join agents a on a.id = v.agent_id
    where v.agent_id = ${agentId} and a.workspace_id = ${workspaceId} and v.number = ${number}`;
  return row && versionOf(agentId, row);
}

interface Draft {
  readonly lastVersion: number;
  readonly config: unknown;
}

async function pin(
  tx: Transaction,
  agentId: string,
  number: number,
  knowledge: readonly PinnedSource[],
): Promise<void> {
  const sources = knowledge.map(({ sourceId }) => sourceId);
  const revisions = knowledge.map(({ revision }) => revision);
  await tx`
    insert into version_knowledge (agent_id, number, source_id, revision, position)
    select ${agentId}, ${number}, source_id, revision, place
    from unnest(${sources}::text[], ${revisions}::int[]) with ordinality as k (source_id, revision, place)`;
}

const publish: (
  sql: Sql,
  ...args: Parameters<AgentVersions['publish']>
) => ReturnType<AgentVersions['publish']> = (sql, agentId, workspaceId, { title, description, voice }) =>
  sql.begin(async (tx) => {
    const [draft] = await tx<Draft[]>`
      select last_version as "lastVersion", config from agents
      where id = ${agentId} and workspace_id = ${workspaceId} for no key update`;
    if (!draft) return undefined;
    const config = completeConfig(draft.config);
    if (!isDeepStrictEqual(config.voice, voice)) return 'changed';
    await holdContent(tx, agentId);
    const content = await draftContent(tx, agentId);
    const number = draft.lastVersion + 1;
    const toolIds = content.tools.map(({ id }) => id);
    await tx`
      insert into agent_versions (agent_id, number, title, description, config, config_hash, tools, tool_ids)
      select ${agentId}, ${number}, ${title}, ${description}, ${tx.json(config)}, ${configHash({ config, ...content })},
        frozen.tools, ${toolIds}
      from (${frozenTools(tx, agentId)}) as frozen`;
    await pin(tx, agentId, number, content.knowledge);
    await tx`update agents set last_version = ${number}, updated_at = now() where id = ${agentId}`;
    return read(tx, agentId, workspaceId, number);
  }) as ReturnType<AgentVersions['publish']>;

const completeTools = (frozen: readonly FrozenTool[] | null = []): readonly FrozenTool[] =>
  (frozen ?? []).map(({ id, definition }) => ({ id, definition: completeTool(definition) }));

interface Runnable extends Agent {
  readonly number: number | null;
  readonly config: unknown;
  readonly configHash: string | null;
  readonly tools: readonly FrozenTool[] | null;
  readonly knowledge: readonly PinnedSource[];
}

/** The agent with a version, or with its last one. One statement, since every session begins with it. */
async function find(
  sql: Sql,
  agentId: string,
  workspaceId?: string,
  number?: number,
): Promise<RunnableAgent | undefined> {
  const [row] = await sql<Runnable[]>`
    select ${agentColumns(sql)}, v.number, v.config, v.config_hash as "configHash", v.tools, coalesce((
        select jsonb_agg(jsonb_build_object('sourceId', k.source_id, 'revision', k.revision) order by k.position)
        from version_knowledge k where k.agent_id = v.agent_id and k.number = v.number
      ), '[]') as knowledge
    from agents a left join agent_versions v on v.agent_id = a.id and v.number = coalesce(${number ?? null}::int, a.last_version)
    where a.id = ${agentId} and (${workspaceId ?? null}::text is null or a.workspace_id = ${workspaceId ?? null})`;
  if (!row) return undefined;
  const { number: found, config, configHash: hash, tools, knowledge, ...agent } = row;
  if (found === null || hash === null) return { agent, version: undefined };
  return {
    agent,
    version: {
      number: found,
      config: completeConfig(config),
      configHash: hash,
      tools: completeTools(tools),
      knowledge,
    },
  };
}

async function draft(sql: Sql, agentId: string, workspaceId: string): Promise<RunnableAgent | undefined> {
  const [row] = await sql<(Agent & { config: unknown })[]>`
    select ${agentColumns(sql)}, a.config from agents a where a.id = ${agentId} and a.workspace_id = ${workspaceId}`;
  if (!row) return undefined;
  const { config: stored, ...agent } = row;
  const config = completeConfig(stored);
  const content = await draftContent(sql, agentId);
  const [frozen] = await sql<{ tools: readonly FrozenTool[] }[]>`${frozenTools(sql, agentId)}`;
  const { knowledge } = content;
  const hash = configHash({ config, ...content });
  return {
    agent,
    version: { number: 0, config, configHash: hash, tools: completeTools(frozen?.tools), knowledge },
  };
}

export const createVersions = (sql: Sql): AgentVersions & PublishedAgents => ({
  list: (agentId, workspaceId, page) => list(sql, agentId, workspaceId, page),
  read: (agentId, workspaceId, number) => read(sql, agentId, workspaceId, number),
  publish: (agentId, workspaceId, about) => publish(sql, agentId, workspaceId, about),
  find: (agentId, workspaceId) => find(sql, agentId, workspaceId),
  version: (agentId, workspaceId, number) => find(sql, agentId, workspaceId, number),
  draft: (agentId, workspaceId) => draft(sql, agentId, workspaceId),
});
