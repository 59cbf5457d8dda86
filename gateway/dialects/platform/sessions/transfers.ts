/**
 * The agents that a session's call may reach by hand-overs, each with the version published when the session is created
 * (docs/contract/platform.md 6.5). Agents that take no calls are left out.
 */
import { LIMITS } from '../../../../contracts/limits.js';
import type { Language } from '../../../../contracts/speech/languages.js';
import type { PublishedAgents, ReachableAgent } from '../../../../contracts/ports/agents/agents.js';
import type { PinnedAgent } from '../../../../contracts/ports/sessions/sessions.js';
import type { AgentConfig } from '../../../../contracts/schemas/agent-config.js';

export interface TransferParts {
  readonly agents: Pick<PublishedAgents, 'reachable'>;
  transcribes(language: Language): boolean;
}

function pinned({ agent, version }: ReachableAgent, parts: TransferParts): readonly PinnedAgent[] {
  if (agent.status !== 'active' || !version) return [];
  if (!parts.transcribes(version.language)) return [];
  return [{ agentId: agent.id, name: agent.name, versionNumber: version.number }];
}

export async function pinnedAgents(
  { tools }: AgentConfig,
  workspaceId: string,
  parts: TransferParts,
): Promise<readonly PinnedAgent[]> {
  const found: PinnedAgent[] = [];
  const seen = new Set<string>();
  let wanted: readonly string[] = tools.transfer_agents.map(({ agent_id: id }) => id);
  while (wanted.length > 0 && found.length < LIMITS.session.agents) {
    for (const id of wanted) seen.add(id);
    const answers = await Promise.all(wanted.map((id) => parts.agents.reachable(id, workspaceId)));
    const agents = answers.filter((agent) => agent !== undefined);
    found.push(...agents.flatMap((agent) => pinned(agent, parts)));
    const next = agents.flatMap(({ version }) => version?.targets ?? []);
    wanted = [...new Set(next)].filter((id) => !seen.has(id));
  }
  return found.slice(0, LIMITS.session.agents);
}
