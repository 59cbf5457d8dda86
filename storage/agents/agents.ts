/**
 * Agents and their drafts (contracts/ports/agents/agents.ts). Every statement names the workspace, so agents of others do not
 * exist. A draft is changed under the agent's row lock, together with its references and its secrets.
 */
import type { Ids } from '../../contracts/ids.js';
import type {
  Agent,
  AgentFilter,
  Agents,
  HashedConfig,
  WebhookSecrets,
} from '../../contracts/ports/agents/agents.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import type { Secrets } from '../../contracts/ports/secrets.js';
import type { AgentConfig } from '../../contracts/schemas/agent-config.js';
import {
  completeConfig,
  configHash,
  type ConfigRevision,
  initSlot,
} from '../../contracts/schemas/agent-merge.js';
import type { AgentChange } from '../../contracts/schemas/agents.js';
import { attach, draftContent, missingReferences } from './agent-content.js';
import { keepModelKey } from './model-keys.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { listed, positionAfter, wantedRows } from '../page.js';
import { isFound } from '../search.js';
import { dropOrphanSecrets } from '../secrets/orphans.js';
import { dropOtherSecrets, keepSecret, openSecretsOf } from '../secrets/sealed.js';
import { endPendingOf } from '../sessions/endings.js';

export const agentColumns = (sql: Sql | Transaction) => sql`
  a.id, a.workspace_id as "workspaceId", a.name, a.description, a.status, a.last_version as "lastVersion",
  a.public_enabled as "publicEnabled", a.allowed_origins as "allowedOrigins",
  a.overrides_allowed as "overridesAllowed", a.created_at as "createdAt", a.updated_at as "updatedAt"`;

async function list(
  sql: Sql,
  workspaceId: string,
  { search = '', includeArchived, publication }: AgentFilter,
  page: PageRequest,
): Promise<Listed<Agent>> {
  const where = sql`
    a.workspace_id = ${workspaceId}
    and (${includeArchived} or a.status = 'active')
    and (${publication} = 'all' or (a.last_version > 0) = (${publication} = 'live'))
    ${isFound(sql, search, sql`a.name`, sql`a.description`)}`;
  const rows = await sql<(Agent & { position: string })[]>`
    select ${agentColumns(sql)}, a.position::text as position from agents a
    where ${where} and a.position < ${positionAfter(page)}
    order by a.position desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total ? await sql`select count(*)::int as total from agents a where ${where}` : [];
  const total = (counted?.['total'] as number | undefined) ?? null;
  return listed(rows, page, total, ({ position: _, ...agent }) => agent);
}

async function read(sql: Sql | Transaction, id: string, workspaceId: string): Promise<Agent | undefined> {
  const [row] = await sql<Agent[]>`
    select ${agentColumns(sql)} from agents a where a.id = ${id} and a.workspace_id = ${workspaceId}`;
  return row;
}

async function update(
  sql: Transaction,
  id: string,
  workspaceId: string,
  wanted: AgentChange,
): Promise<Agent | undefined> {
  const { allowed_origins: origins = null, overrides_allowed: overrides = null } = wanted;
  const [row] = await sql<Agent[]>`
    update agents a set
      name = coalesce(${wanted.name ?? null}, name),
      description = coalesce(${wanted.description ?? null}, description),
      status = coalesce(${wanted.status ?? null}, status),
      public_enabled = coalesce(${wanted.public_enabled ?? null}::boolean, public_enabled),
      allowed_origins = coalesce(${origins}::text[], allowed_origins),
      overrides_allowed = coalesce(${overrides}::text[], overrides_allowed),
      updated_at = now()
    where id = ${id} and workspace_id = ${workspaceId}
    returning ${agentColumns(sql)}`;
  return row;
}

interface Draft {
  readonly config: unknown;
  readonly updatedAt: Date;
}

export async function hashedConfig(
  sql: Sql | Transaction,
  agentId: string,
  { config: stored, updatedAt }: Draft,
): Promise<HashedConfig> {
  const config = completeConfig(stored);
  const hash = configHash({ config, ...(await draftContent(sql, agentId)) });
  return { agentId, config, configHash: hash, updatedAt };
}

const change = (sql: Sql, id: string, workspaceId: string, wanted: AgentChange): Promise<Agent | undefined> =>
  sql.begin(async (tx) => {
    // Sessions in creation lock their agent: this waits for them, and then ends them too (storage/sessions.ts).
    if (wanted.status === 'archived')
      await tx`select from agents where id = ${id} and workspace_id = ${workspaceId} for update`;
    const agent = await update(tx, id, workspaceId, wanted);
    if (agent?.status === 'archived') await endPendingOf(tx, id, workspaceId);
    return agent;
  }) as Promise<Agent | undefined>;

async function config(sql: Sql, id: string, workspaceId: string): Promise<HashedConfig | undefined> {
  const [row] = await sql<Draft[]>`
    select config, config_updated_at as "updatedAt" from agents where id = ${id} and workspace_id = ${workspaceId}`;
  return row && hashedConfig(sql, id, row);
}

/** The slots of its webhooks' secrets. */
const signed = ({ webhooks: { post_call: hooks, conversation_init: init } }: AgentConfig): string[] => [
  ...hooks.flatMap(({ url, has_secret: has }) => (has ? [url] : [])),
  ...(init?.has_secret ? [initSlot(init.url)] : []),
];

/** Slots of secrets that a published version of the agent needs for signing. */
async function signedByVersions(tx: Transaction, agentId: string): Promise<string[]> {
  const rows = await tx<{ url: string }[]>`
    select distinct hook->>'url' as url
    from agent_versions, jsonb_array_elements(config->'webhooks'->'post_call') as hook
    where agent_id = ${agentId} and hook->'has_secret' = 'true'`;
  const asked = await tx<{ url: string }[]>`
    select distinct config->'webhooks'->'conversation_init'->>'url' as url from agent_versions
    where agent_id = ${agentId} and config->'webhooks'->'conversation_init'->'has_secret' = 'true'`;
  return [...rows.map(({ url }) => url), ...asked.map(({ url }) => initSlot(url))];
}

/** Writes the draft's references and secrets, which are not in its document. */
async function keep(
  tx: Transaction,
  secrets: Secrets,
  agent: { readonly id: string; readonly workspaceId: string },
  { config, secrets: wanted, modelKey }: ConfigRevision,
): Promise<void> {
  await attach(tx, agent, config);
  const owner = { kind: 'webhook', ...agent } as const;
  for (const { url, secret } of wanted)
    if (secret !== null) await keepSecret(tx, secrets, owner, url, secret);
  await dropOtherSecrets(tx, owner, [...signed(config), ...(await signedByVersions(tx, agent.id))]);
  await keepModelKey(tx, secrets, agent, config, modelKey);
}

const remove = (sql: Sql, id: string, workspaceId: string): Promise<boolean> =>
  sql.begin(async (tx) => {
    const { count } = await tx`delete from agents where id = ${id} and workspace_id = ${workspaceId}`;
    if (count === 0) return false;
    await endPendingOf(tx, id, workspaceId);
    await dropOrphanSecrets(tx, workspaceId);
    return true;
  }) as Promise<boolean>;

export interface AgentsParts {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly secrets: Secrets;
}

export function createAgents({ sql, ids, secrets }: AgentsParts): Agents & WebhookSecrets {
  return {
    list: (workspaceId, filter, page) => list(sql, workspaceId, filter, page),
    read: (id, workspaceId) => read(sql, id, workspaceId),
    change: (id, workspaceId, wanted) => change(sql, id, workspaceId, wanted),
    remove: (id, workspaceId) => remove(sql, id, workspaceId),
    config: (id, workspaceId) => config(sql, id, workspaceId),
    missing: (references, workspaceId) => missingReferences(sql, workspaceId, references),

    create: ({ name, description, ...revision }, workspaceId) =>
      sql.begin(async (tx) => {
        const id = ids.next('agent');
        const [row] = await tx<Agent[]>`
          insert into agents as a (id, workspace_id, name, description, config)
          values (${id}, ${workspaceId}, ${name}, ${description}, ${tx.json(revision.config)})
          returning ${agentColumns(tx)}`;
        await keep(tx, secrets, { id, workspaceId }, revision);
        return row;
      }) as Promise<Agent>,

    configure: (id, workspaceId, revise) =>
      sql.begin(async (tx) => {
        const [row] = await tx<{ config: unknown }[]>`
          select config from agents where id = ${id} and workspace_id = ${workspaceId} for no key update`;
        if (!row) return undefined;
        const revision = revise(completeConfig(row.config));
        const [draft] = await tx<Draft[]>`
          update agents set config = ${tx.json(revision.config)}, config_updated_at = now(), updated_at = now()
          where id = ${id} returning config, config_updated_at as "updatedAt"`;
        await keep(tx, secrets, { id, workspaceId }, revision);
        return draft && hashedConfig(tx, id, draft);
      }) as Promise<HashedConfig | undefined>,

    async secretOf(agentId, slot) {
      const [secret] = await openSecretsOf(sql, secrets, { kind: 'webhook', id: agentId }, [slot]);
      return secret;
    },
  };
}
