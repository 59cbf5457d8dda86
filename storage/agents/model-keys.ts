/** Keys of agents' own language models: one for each address that the draft or a published version names. */
import type { ModelKeys } from '../../contracts/ports/agents/models.js';
import type { Secrets } from '../../contracts/ports/secrets.js';
import type { AgentConfig } from '../../contracts/schemas/agent-config.js';
import type { ModelKeyChange } from '../../contracts/schemas/agent-merge.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { dropOtherSecrets, keepSecret, openSecretsOf } from '../secrets/sealed.js';

interface Owner {
  readonly id: string;
  readonly workspaceId: string;
}

async function newKey(
  tx: Transaction,
  secrets: Secrets,
  { id }: Owner,
  change: ModelKeyChange,
): Promise<string | undefined> {
  if ('key' in change) return change.key;
  const slots = [change.baseUrl, change.keyOf];
  const [own, before] = await openSecretsOf(tx, secrets, { kind: 'model', id }, slots);
  // A version may have the new address, with a key of its own.
  return own === undefined ? before : undefined;
}

async function addressesOfVersions(tx: Transaction, agentId: string): Promise<string[]> {
  const rows = await tx<{ url: string }[]>`
    select distinct config->'llm'->'custom'->>'base_url' as url from agent_versions
    where agent_id = ${agentId} and config->'llm'->'custom'->>'base_url' is not null`;
  return rows.map(({ url }) => url);
}

/** Keeps what the change of a draft brings, and drops keys of addresses that neither it nor a version has. */
export async function keepModelKey(
  tx: Transaction,
  secrets: Secrets,
  agent: Owner,
  { llm: { custom } }: AgentConfig,
  change: ModelKeyChange | undefined,
): Promise<void> {
  const owner = { kind: 'model', ...agent } as const;
  const key = change && (await newKey(tx, secrets, agent, change));
  if (change && key !== undefined) await keepSecret(tx, secrets, owner, change.baseUrl, key);
  const used = [...(custom ? [custom.base_url] : []), ...(await addressesOfVersions(tx, agent.id))];
  await dropOtherSecrets(tx, owner, used);
}

export const createModelKeys = (sql: Sql, secrets: Secrets): ModelKeys => ({
  async keyOf(agentId, baseUrl) {
    const [key] = await openSecretsOf(sql, secrets, { kind: 'model', id: agentId }, [baseUrl]);
    return key;
  },
});
