/** Tools of a workspace (docs/contract/platform.md 6.5); every method is limited to the workspace. */
import type { ToolDefinition, ToolRevision } from '../../schemas/tools.js';
import type { Listed, PageRequest } from '../page.js';

export interface Tool {
  readonly id: string;
  readonly workspaceId: string;
  readonly definition: ToolDefinition;
  /** Agents whose draft has it attached. */
  readonly usedBy: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A tool as lists show it. */
export interface ToolSummary extends Omit<Tool, 'definition'> {
  readonly definition: Pick<ToolDefinition, 'name' | 'description' | 'tool_type' | 'method' | 'url'>;
}

/**
 * A tool as published, without its mock responses. Its credentials are the tool's current ones (decision
 * 14).
 */
export interface FrozenTool {
  readonly id: string;
  readonly definition: ToolDefinition;
}

export interface AgentReferences {
  /** At most 1000, by name. */
  readonly agents: readonly { readonly id: string; readonly name: string }[];
  readonly total: number;
}

export interface Tools {
  list(
    workspaceId: string,
    filter: { readonly search?: string; readonly agentId?: string },
    page: PageRequest,
  ): Promise<Listed<ToolSummary>>;
  read(id: string, workspaceId: string): Promise<Tool | undefined>;
  create(revision: ToolRevision, workspaceId: string): Promise<Tool>;
  /**
   * Changes of one tool are serialised. Errors: those of `revise`; `invalid_request` as in
   * `Agents.configure`.
   */
  change(
    id: string,
    workspaceId: string,
    revise: (current: ToolDefinition) => ToolRevision,
  ): Promise<Tool | undefined>;
  /** False if there is no such tool. Errors: `conflict` while a draft has it attached. */
  remove(id: string, workspaceId: string): Promise<boolean>;
  agents(id: string, workspaceId: string): Promise<AgentReferences | undefined>;
}

export interface ToolCredentials {
  /** The headers of a call of the tool, in order, including credentials. */
  headersOf(tool: FrozenTool): Promise<readonly (readonly [name: string, value: string])[]>;
}
