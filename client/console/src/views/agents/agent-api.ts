/** Agents, their drafts and versions, as the gateway sends them (docs/contract/platform.md 6.1 to 6.4). */
import { ask } from '../../api.js';
import type { Option } from '../../form/pick.js';
import { allRows } from '../../lists.js';

export interface Agent {
  readonly agent_id: string;
  readonly name: string;
  readonly description: string;
  readonly status: string;
  readonly publication_state: string;
  readonly public_enabled: boolean;
  readonly allowed_origins: readonly string[];
  readonly overrides_allowed: readonly string[];
  readonly updated_at: string;
}

export type Config = Readonly<Record<string, unknown>> & { readonly config_hash: string };

export interface Version {
  readonly version_number: number;
  readonly version_title: string | null;
  readonly version_description: string | null;
  readonly config_hash: string;
  readonly published_at: string;
}

export interface Published extends Version {
  readonly warnings: readonly string[];
}

export const agentPath = (id: string, below = ''): string =>
  `v1/agent/agents/${encodeURIComponent(id)}${below}`;

export const readVersion = async (id: string, number: number, signal: AbortSignal): Promise<Config> =>
  (await ask<{ readonly config: Config }>(agentPath(id, `/versions/${number}`), { signal })).config;

/** The newest version; undefined if nothing was published. */
export async function newestVersion(id: string, signal: AbortSignal): Promise<Version | undefined> {
  const { versions } = await ask<{ readonly versions: readonly Version[] }>(
    agentPath(id, '/versions?page_size=1'),
    { signal },
  );
  return versions[0];
}

const named =
  (path: string, plural: string, id: string) =>
  async (signal: AbortSignal): Promise<readonly Option[]> => {
    const rows = await allRows<Record<string, string>>(`v1/agent/${path}?page_size=100`, plural, signal);
    return rows.map((row) => ({ id: row[id] ?? '', name: row['name'] ?? row[id] ?? '' }));
  };

export const toolOptions = named('tools', 'tools', 'tool_id');
export const sourceOptions = named('knowledge-sources', 'knowledge_sources', 'knowledge_source_id');
export const agentOptions = named('agents', 'agents', 'agent_id');
