/**
 * Tools (contracts/ports/agents/tools.ts). A tool is changed under its row lock; its credentials are sealed in separate rows and
 * stay as long as the tool or a published version needs them. A tool of a draft cannot be deleted.
 */
import { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import type { Secrets } from '../../contracts/ports/secrets.js';
import type {
  AgentReferences,
  FrozenTool,
  Tool,
  ToolCredentials,
  Tools,
  ToolSummary,
} from '../../contracts/ports/agents/tools.js';
import { contentDigest } from '../../contracts/schemas/agent-merge.js';
import {
  completeTool,
  headerSlots,
  type ToolDefinition,
  type ToolRevision,
} from '../../contracts/schemas/tools.js';
import { sameClientName } from './agent-content.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { listed, positionAfter, wantedRows } from '../page.js';
import { isFound } from '../search.js';
import { dropOrphanSecrets } from '../secrets/orphans.js';
import { dropOtherSecrets, keepSecret, openSecretsOf } from '../secrets/sealed.js';

const MOST_AGENTS = 1000;

const columns = (sql: Sql | Transaction) => sql`
  t.id, t.workspace_id as "workspaceId", t.created_at as "createdAt", t.updated_at as "updatedAt",
  (select count(*)::int from agent_tools a where a.tool_id = t.id) as "usedBy"`;

interface SummaryRow extends Omit<ToolSummary, 'definition'> {
  readonly name: string;
  readonly description: string;
  readonly type: ToolDefinition['tool_type'];
  readonly method: ToolDefinition['method'];
  readonly url: string;
  readonly position: string;
}

const summaryOf = ({
  name,
  description,
  type,
  method,
  url,
  position: _,
  ...row
}: SummaryRow): ToolSummary => ({
  ...row,
  definition: { name, description, tool_type: type, method, url },
});

async function list(
  sql: Sql,
  workspaceId: string,
  { search = '', agentId }: { readonly search?: string; readonly agentId?: string },
  page: PageRequest,
): Promise<Listed<ToolSummary>> {
  const where = sql`
    t.workspace_id = ${workspaceId}
    ${isFound(sql, search, sql`t.name`, sql`t.description`)}
    and (${agentId ?? null}::text is null or exists (
      select from agent_tools a where a.tool_id = t.id and a.agent_id = ${agentId ?? null}))`;
  const rows = await sql<SummaryRow[]>`
    select ${columns(sql)}, t.name, t.description, t.tool_type as type, t.method, t.url, t.position::text as position
    from tools t
    where ${where} and t.position < ${positionAfter(page)}
    order by t.position desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total ? await sql`select count(*)::int as total from tools t where ${where}` : [];
  const total = (counted?.['total'] as number | undefined) ?? null;
  return listed(rows, page, total, summaryOf);
}

async function read(sql: Sql | Transaction, id: string, workspaceId: string): Promise<Tool | undefined> {
  const [row] = await sql<Tool[]>`
    select ${columns(sql)}, t.definition from tools t where t.id = ${id} and t.workspace_id = ${workspaceId}`;
  return row && { ...row, definition: completeTool(row.definition) };
}

const credentialSlots = ({ headers }: ToolDefinition): string[] => {
  const slots = headerSlots(headers);
  return headers.flatMap(({ has_secret: has }, index) => (has ? [slots[index] ?? ''] : []));
};

async function keepSecrets(
  tx: Transaction,
  secrets: Secrets,
  owner: { readonly id: string; readonly workspaceId: string },
  { definition, secrets: wanted }: ToolRevision,
): Promise<void> {
  const tool = { kind: 'tool', ...owner } as const;
  for (const { slot, secret } of wanted)
    if (secret !== null) await keepSecret(tx, secrets, tool, slot, secret);
  const [frozen] = await tx`select 1 from agent_versions where tool_ids @> array[${owner.id}] limit 1`;
  if (!frozen) await dropOtherSecrets(tx, tool, credentialSlots(definition));
}

/** Locks the agents that use a client tool, before the tool itself: simultaneous renames of an agent's tools run one after the other. */
const holdAgentsOf = (tx: Transaction, id: string, workspaceId: string) => tx`
  select from tools t
  join agent_tools used on used.tool_id = t.id
  join agents a on a.id = used.agent_id
  where t.id = ${id} and t.workspace_id = ${workspaceId} and t.tool_type = 'client'
  order by a.id for no key update of a`;

/** Errors: `invalid_request` if an agent that uses the tool has another client tool of that name. */
async function checkNames(
  tx: Transaction,
  id: string,
  { name, tool_type: type }: ToolDefinition,
): Promise<void> {
  if (type !== 'client') return;
  const [same] = await tx`
    select 1 from agent_tools mine
    join agent_tools others on others.agent_id = mine.agent_id and others.tool_id <> mine.tool_id
    join tools t on t.id = others.tool_id
    where mine.tool_id = ${id} and t.name = ${name} and t.tool_type = 'client' limit 1`;
  if (same) throw sameClientName(name);
}

const remove = (sql: Sql, id: string, workspaceId: string): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [row] = await tx`
      select 1 from tools where id = ${id} and workspace_id = ${workspaceId} for update`;
    if (!row) return false;
    const [used] = await tx<{ count: number }[]>`
      select count(*)::int as count from agent_tools where tool_id = ${id}`;
    if (used && used.count > 0)
      throw new ServiceError('conflict', {
        message: `Tool is attached to ${used.count} agent(s); detach it first`,
      });
    await tx`delete from tools where id = ${id}`;
    await dropOrphanSecrets(tx, workspaceId);
    return true;
  }) as Promise<boolean>;

async function agents(sql: Sql, id: string, workspaceId: string): Promise<AgentReferences | undefined> {
  const tool = await read(sql, id, workspaceId);
  if (!tool) return undefined;
  const rows = await sql<{ id: string; name: string }[]>`
    select a.id, a.name from agent_tools t join agents a on a.id = t.agent_id
    where t.tool_id = ${id} order by a.name, a.id limit ${MOST_AGENTS}`;
  return { agents: [...rows], total: tool.usedBy };
}

/** Credentials are sent as `Authorization`, whatever their stored header name (docs/contract/platform.md 6.5 rule 2). */
const sentName = ({ name, kind }: ToolDefinition['headers'][number]): string =>
  kind === 'custom' ? name : 'Authorization';

async function headersOf(
  sql: Sql,
  secrets: Secrets,
  { id, definition: { headers } }: FrozenTool,
): Promise<readonly (readonly [string, string])[]> {
  const slots = headerSlots(headers);
  const wanted = headers.some(({ has_secret: has }) => has);
  const opened = wanted ? await openSecretsOf(sql, secrets, { kind: 'tool', id }, slots) : [];
  return headers.flatMap((header, index): [string, string][] => {
    const value = header.kind === 'custom' ? header.value : header.has_secret ? opened[index] : undefined;
    return value === null || value === undefined ? [] : [[sentName(header), value]];
  });
}

const rowOf = (tx: Transaction, { definition }: ToolRevision) => ({
  name: definition.name,
  description: definition.description,
  tool_type: definition.tool_type,
  method: definition.method,
  url: definition.url,
  definition: tx.json(definition),
  digest: contentDigest(definition),
});

export interface ToolsParts {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly secrets: Secrets;
}

export function createTools({ sql, ids, secrets }: ToolsParts): Tools & ToolCredentials {
  return {
    list: (workspaceId, filter, page) => list(sql, workspaceId, filter, page),
    read: (id, workspaceId) => read(sql, id, workspaceId),
    remove: (id, workspaceId) => remove(sql, id, workspaceId),
    agents: (id, workspaceId) => agents(sql, id, workspaceId),
    headersOf: (tool) => headersOf(sql, secrets, tool),

    create: (revision, workspaceId) =>
      sql.begin(async (tx) => {
        const id = ids.next('tool');
        await tx`insert into tools ${tx({ id, workspace_id: workspaceId, ...rowOf(tx, revision) })}`;
        await keepSecrets(tx, secrets, { id, workspaceId }, revision);
        return read(tx, id, workspaceId);
      }) as Promise<Tool>,

    change: (id, workspaceId, revise) =>
      sql.begin(async (tx) => {
        await holdAgentsOf(tx, id, workspaceId);
        const [row] = await tx<{ definition: ToolDefinition }[]>`
          select definition from tools where id = ${id} and workspace_id = ${workspaceId} for no key update`;
        if (!row) return undefined;
        const revision = revise(completeTool(row.definition));
        await checkNames(tx, id, revision.definition);
        await tx`update tools set ${tx(rowOf(tx, revision))}, updated_at = now() where id = ${id}`;
        await keepSecrets(tx, secrets, { id, workspaceId }, revision);
        return read(tx, id, workspaceId);
      }) as Promise<Tool | undefined>,
  };
}
