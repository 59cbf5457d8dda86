/** The agents to whom an agent may hand its call over. */
import type { PinnedAgent, SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';

/** An agent to whom this one may hand the call over; `description`: when, as its owner says. */
export type Reachable = PinnedAgent & { readonly description: string };

export function reachableFrom({ config, transfers }: SessionPlan): readonly Reachable[] {
  const pinned = transfers?.agents ?? [];
  return config.tools.transfer_agents.flatMap(({ agent_id: id, description }) => {
    const agent = pinned.find(({ agentId }) => agentId === id);
    return agent ? [{ ...agent, description }] : [];
  });
}
