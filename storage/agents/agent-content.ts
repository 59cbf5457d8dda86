/**
 * The tools and knowledge sources of an agent's draft. The tables `agent_tools` and `agent_knowledge` mirror the draft's
 * lists, so that references exist and can be counted. Everything runs in the caller's transaction.
 */
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { PinnedSource, References } from '../../contracts/ports/agents/agents.js';
import type { AgentConfig } from '../../contracts/schemas/agent-config.js';
import type { Problem } from '../../contracts/schemas/check.js';
import type { ToolDefinition } from '../../contracts/schemas/tools.js';
import type { ToolRow } from '../plans/plan-contents.js';
import type { Sql, Transaction } from '../postgres/sql.js';

const missing = (
  ids: readonly string[],
  found: ReadonlySet<string>,
  loc: readonly string[],
  what: string,
): Problem[] =>
  ids.flatMap((id, index) =>
    found.has(id)
      ? []
      : [{ type: 'reference', loc: [...loc, index], message: `${what} ${id} does not exist` }],
  );

/** The client could not tell two client tools of one name apart. */
export const sameClientName = (name: string): ServiceError =>
  new ServiceError('invalid_request', {
    message: `Two client tools of one agent are named ${name}`,
    param: 'tools.tool_ids',
  });

interface FoundTool {
  readonly id: string;
  readonly name: string;
  readonly type: ToolDefinition['tool_type'];
}

/** The references that exist in the workspace. `hold` keeps them from being deleted or renamed until the transaction ends. */
async function find(
  sql: Sql | Transaction,
  workspaceId: string,
  { tools, sources }: References,
  hold: boolean,
) {
  const foundTools = await sql<FoundTool[]>`
    select id, name, tool_type as type from tools
    where workspace_id = ${workspaceId} and id = any(${tools as string[]}::text[]) ${hold ? sql`for share` : sql``}`;
  const foundSources = await sql<{ id: string }[]>`
    select id from knowledge_sources
    where workspace_id = ${workspaceId} and id = any(${sources as string[]}::text[]) ${hold ? sql`for key share` : sql``}`;
  const ids = (rows: readonly { readonly id: string }[]) => new Set(rows.map(({ id }) => id));
  const problems = [
    ...missing(tools, ids(foundTools), ['tools', 'tool_ids'], 'Tool'),
    ...missing(sources, ids(foundSources), ['knowledge_base', 'knowledge_source_ids'], 'Knowledge source'),
  ];
  return { problems, foundTools };
}

/** The references that do not exist, as problems of a configuration. */
export async function missingReferences(
  sql: Sql,
  workspaceId: string,
  references: References,
): Promise<readonly Problem[]> {
  if (references.tools.length + references.sources.length === 0) return [];
  return (await find(sql, workspaceId, references, false)).problems;
}

/** Errors: `invalid_request`. */
function checkServers(tools: readonly FoundTool[]): void {
  const { servers: most } = LIMITS.mcp;
  if (tools.filter(({ type }) => type === 'mcp').length <= most) return;
  const message = `An agent has at most ${most} MCP servers`;
  throw new ServiceError('invalid_request', { message, param: 'tools.tool_ids' });
}

/** Errors: `invalid_request`. */
function checkClientNames(tools: readonly FoundTool[]): void {
  const names = tools.flatMap(({ name, type }) => (type === 'client' ? [name] : []));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw sameClientName(twice);
}

/**
 * Errors: `validation_failed` for missing references, `invalid_request` for two client tools of one name, or too many
 * MCP servers.
 */
export async function attach(
  tx: Transaction,
  agent: { readonly id: string; readonly workspaceId: string },
  config: AgentConfig,
): Promise<void> {
  const { tool_ids: tools } = config.tools;
  const { knowledge_source_ids: sources } = config.knowledge_base;
  const { problems, foundTools } = await find(tx, agent.workspaceId, { tools, sources }, true);
  if (problems[0]) throw new ServiceError('validation_failed', { message: problems[0].message, problems });
  checkClientNames(foundTools);
  checkServers(foundTools);
  await tx`delete from agent_tools where agent_id = ${agent.id}`;
  await tx`
    insert into agent_tools (agent_id, tool_id, position)
    select ${agent.id}, id, place from unnest(${tools}::text[]) with ordinality as t (id, place)`;
  await tx`delete from agent_knowledge where agent_id = ${agent.id}`;
  await tx`
    insert into agent_knowledge (agent_id, source_id, position)
    select ${agent.id}, id, place from unnest(${sources}::text[]) with ordinality as s (id, place)`;
}

export interface DraftContent {
  readonly tools: readonly { readonly id: string; readonly digest: string }[];
  readonly knowledge: readonly PinnedSource[];
}

/** The content with which the draft would be published now, in order; tools by their digests, which are small. */
export async function draftContent(sql: Sql | Transaction, agentId: string): Promise<DraftContent> {
  const tools = await sql<DraftContent['tools'][number][]>`
    select t.id, t.digest from agent_tools a join tools t on t.id = a.tool_id
    where a.agent_id = ${agentId} order by a.position`;
  const knowledge = await sql<PinnedSource[]>`
    select s.id as "sourceId", s.revision from agent_knowledge a join knowledge_sources s on s.id = a.source_id
    where a.agent_id = ${agentId} order by a.position`;
  return { tools: [...tools], knowledge: [...knowledge] };
}

/** A tool `t` as a version freezes it: without mock responses, which no call uses. */
const frozen = (sql: Sql | Transaction) => sql`jsonb_set(t.definition, '{mock_responses}', '[]')`;

/** The draft's tools as a version freezes them, a row each. */
export const draftTools = (sql: Sql | Transaction, agentId: string) => sql<ToolRow[]>`
  select t.id, ${frozen(sql)} as definition, octet_length(${frozen(sql)}::text) as bytes
  from agent_tools a join tools t on t.id = a.tool_id where a.agent_id = ${agentId} order by a.position`;

/** Bytes of the draft's configuration, and of its tools as a version freezes them, with their names. */
export const draftSizes = (sql: Sql | Transaction, agentId: string) => sql<
  { name: string | null; place: number; bytes: number }[]
>`
  select null as name, 0 as place, octet_length(a.config::text) as bytes from agents a where a.id = ${agentId}
  union all
  select t.name, a.position::int as place, octet_length(${frozen(sql)}::text) as bytes
  from agent_tools a join tools t on t.id = a.tool_id where a.agent_id = ${agentId}`;

/** The same as one JSON list. */
export const frozenTools = (sql: Sql | Transaction, agentId: string) => sql`
  select coalesce(
    jsonb_agg(
      jsonb_build_object('id', t.id, 'definition', ${frozen(sql)})
      order by a.position),
    '[]') as tools
  from agent_tools a join tools t on t.id = a.tool_id where a.agent_id = ${agentId}`;

/**
 * Locks the draft's tools and the revisions of its sources until the transaction ends, so that the hashed, the frozen and
 * the pinned content are the same.
 */
export async function holdContent(tx: Transaction, agentId: string): Promise<void> {
  await tx`
    select 1 from agent_knowledge k join knowledge_sources s on s.id = k.source_id
    where k.agent_id = ${agentId} order by s.id for share of s`;
  await tx`
    select 1 from agent_tools a join tools t on t.id = a.tool_id
    where a.agent_id = ${agentId} order by t.id for share of t`;
}
