/** The workspace's agents, to pick from. */
import { ask } from './api.js';

export interface AgentRow {
  readonly agent_id: string;
  readonly name: string;
}

interface AgentPage {
  readonly agents: readonly AgentRow[];
  readonly next_cursor: string | null;
}

/** More than anybody wants to pick from. */
const MAX_PAGES = 50;

export async function allAgents(signal: AbortSignal): Promise<readonly AgentRow[]> {
  const found: AgentRow[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < MAX_PAGES; pages += 1) {
    const path = `v1/agent/agents?page_size=100&cursor=${encodeURIComponent(cursor)}`;
    const list: AgentPage = await ask<AgentPage>(path, { signal });
    found.push(...list.agents);
    cursor = list.next_cursor;
  }
  return found;
}
