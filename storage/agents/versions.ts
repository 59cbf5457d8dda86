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
  ReachableAgent,
  RunnableAgent,
  RunnableVersion,
  VersionSummary,
} from '../../contracts/ports/agents/agents.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import type { AgentConfig } from '../../contracts/schemas/agent-config.js';
import { completeConfig, configHash } from '../../contracts/schemas/agent-merge.js';
import type { PlanCache } from '../plans/plan-cache.js';
import { type PlanContents, type PlanKey, publishedTools, weighed } from '../plans/plan-contents.js';
import { agentColumns } from './agents.js';
import { draftContent, draftTools, frozenTools, holdContent } from './agent-content.js';
import { checkSize } from './plan-size.js';
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
    await checkSize(tx, agentId);
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

/** A version without what many share. */
interface Numbered extends Agent {
  readonly number: number | null;
  readonly configHash: string | null;
  readonly knowledge: readonly PinnedSource[];
}

interface VersionParts {
  readonly sql: Sql;
  readonly cache: PlanCache;
  readonly plans: PlanContents;
}

function configOf(
  { sql, cache }: VersionParts,
  { agentId, workspaceId, configHash: hash }: PlanKey,
  number: number,
): Promise<AgentConfig> {
  return cache.get(`config ${agentId} ${hash}`, workspaceId, async () => {
    const [row] = await sql<{ config: unknown; bytes: number }[]>`
      select config, octet_length(config::text) as bytes from agent_versions
      where agent_id = ${agentId} and number = ${number}`;
    return { content: completeConfig(row?.config), bytes: row?.bytes ?? 0 };
  });
}

async function versionIn(
  parts: VersionParts,
  key: PlanKey,
  { number, knowledge }: Pick<RunnableVersion, 'number' | 'knowledge'>,
): Promise<RunnableVersion> {
  const config = await configOf(parts, key, number);
  const tools = await parts.plans.tools(key, async () =>
    weighed(await publishedTools(parts.sql, key.agentId, number)),
  );
  return { number, config, configHash: key.configHash, tools, knowledge };
}

/** The agent with a version, or with its last one. One short statement, since every session begins with it. */
async function find(
  parts: VersionParts,
  agentId: string,
  workspaceId?: string,
  number?: number,
): Promise<RunnableAgent | undefined> {
  const { sql } = parts;
  const [row] = await sql<Numbered[]>`
    select ${agentColumns(sql)}, v.number, v.config_hash as "configHash", coalesce((
        select jsonb_agg(jsonb_build_object('sourceId', k.source_id, 'revision', k.revision) order by k.position)
        from version_knowledge k where k.agent_id = v.agent_id and k.number = v.number
      ), '[]') as knowledge
    from agents a left join agent_versions v on v.agent_id = a.id and v.number = coalesce(${number ?? null}::int, a.last_version)
    where a.id = ${agentId} and (${workspaceId ?? null}::text is null or a.workspace_id = ${workspaceId ?? null})`;
  if (!row) return undefined;
  const { number: found, configHash: hash, knowledge, ...agent } = row;
  if (found === null || hash === null) return { agent, version: undefined };
  const key = { agentId, workspaceId: agent.workspaceId, configHash: hash };
  return { agent, version: await versionIn(parts, key, { number: found, knowledge }) };
}

type ReachableRow = ReachableAgent['agent'] & {
  readonly number: number | null;
  readonly language: AgentConfig['voice']['speaking_language'];
  readonly targets: readonly string[];
};

async function reachable(
  sql: Sql,
  agentId: string,
  workspaceId: string,
): Promise<ReachableAgent | undefined> {
  const [row] = await sql<ReachableRow[]>`
    select a.id, a.name, a.status, v.number, v.config #>> '{voice,speaking_language}' as language,
      coalesce(jsonb_path_query_array(v.config, '$.tools.transfer_agents[*].agent_id'), '[]') as targets
    from agents a left join agent_versions v on v.agent_id = a.id and v.number = a.last_version
    where a.id = ${agentId} and a.workspace_id = ${workspaceId}`;
  if (!row) return undefined;
  const { number, language, targets, ...agent } = row;
  return { agent, version: number === null ? undefined : { number, language, targets } };
}

/** The draft, with its tools unless this process has them; in one snapshot, so that the hash is theirs. */
const readDraft = ({ sql, plans }: VersionParts, agentId: string, workspaceId: string) =>
  sql.begin('isolation level repeatable read read only', async (tx) => {
    const [row] = await tx<(Agent & { config: unknown })[]>`
      select ${agentColumns(tx)}, a.config from agents a where a.id = ${agentId} and a.workspace_id = ${workspaceId}`;
    if (!row) return undefined;
    await checkSize(tx, agentId);
    const { config: stored, ...agent } = row;
    const config = completeConfig(stored);
    const content = await draftContent(tx, agentId);
    const key = { agentId, workspaceId, configHash: configHash({ config, ...content }) };
    // Nothing here waits for another's reading, which may wait for a connection.
    const tools = plans.known(key) ?? weighed(await draftTools(tx, agentId));
    return { agent, config, key, knowledge: content.knowledge, tools };
  });

async function draft(
  parts: VersionParts,
  agentId: string,
  workspaceId: string,
): Promise<RunnableAgent | undefined> {
  const read = await readDraft(parts, agentId, workspaceId);
  if (!read) return undefined;
  const { agent, config, key, knowledge, tools } = read;
  const shared = 'bytes' in tools ? await parts.plans.tools(key, () => Promise.resolve(tools)) : tools;
  return { agent, version: { number: 0, config, configHash: key.configHash, tools: shared, knowledge } };
}

export function createVersions(parts: VersionParts): AgentVersions & PublishedAgents {
  const { sql } = parts;
  return {
    list: (agentId, workspaceId, page) => list(sql, agentId, workspaceId, page),
    read: (agentId, workspaceId, number) => read(sql, agentId, workspaceId, number),
    publish: (agentId, workspaceId, about) => publish(sql, agentId, workspaceId, about),
    find: (agentId, workspaceId) => find(parts, agentId, workspaceId),
    version: (agentId, workspaceId, number) => find(parts, agentId, workspaceId, number),
    reachable: (agentId, workspaceId) => reachable(sql, agentId, workspaceId),
    draft: (agentId, workspaceId) => draft(parts, agentId, workspaceId),
  };
}
