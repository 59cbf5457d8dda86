/** The workspace's agents, to pick from. */
import { allRows } from './lists.js';

export interface AgentRow {
  readonly agent_id: string;
  readonly name: string;
}

export const allAgents = (signal: AbortSignal): Promise<readonly AgentRow[]> =>
  allRows<AgentRow>('v1/agent/agents?page_size=100', 'agents', signal);
