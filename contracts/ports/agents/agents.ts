/**
 * Agents, their drafts and their published versions (docs/contract/platform.md 6.1). Every method is limited
 * to the workspace. Sessions run published configuration: they use `PublishedAgents`, which shows a draft only
 * to a preview.
 */
import type { AgentConfig } from '../../schemas/agent-config.js';
import type { ConfigRevision } from '../../schemas/agent-merge.js';
import type { Problem } from '../../schemas/check.js';
import type { AgentChange, Override } from '../../schemas/agents.js';
import type { Listed, PageRequest } from '../page.js';
import type { FrozenTool } from './tools.js';

export interface Agent {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string;
  readonly status: 'active' | 'archived';
  /** The number of the last version; 0 if nothing was published yet. */
  readonly lastVersion: number;
  readonly publicEnabled: boolean;
  readonly allowedOrigins: readonly string[];
  readonly overridesAllowed: readonly Override[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface AgentFilter {
  readonly search?: string;
  readonly includeArchived: boolean;
  readonly publication: 'all' | 'live' | 'draft';
}

/** A configuration with a hash of its content. */
export interface HashedConfig {
  readonly agentId: string;
  readonly config: AgentConfig;
  readonly configHash: string;
  readonly updatedAt: Date;
}

/** Ids of the tools and knowledge sources that a configuration refers to. */
export interface References {
  readonly tools: readonly string[];
  readonly sources: readonly string[];
}

export interface Agents {
  list(workspaceId: string, filter: AgentFilter, page: PageRequest): Promise<Listed<Agent>>;
  read(id: string, workspaceId: string): Promise<Agent | undefined>;
  /** Errors: those of `configure`. */
  create(
    agent: { readonly name: string; readonly description: string } & ConfigRevision,
    workspaceId: string,
  ): Promise<Agent>;
  change(id: string, workspaceId: string, change: AgentChange): Promise<Agent | undefined>;
  /**
   * Removes it with its configuration and versions; false if there is no such agent. As with archiving, its sessions that
   * wait to be joined end, and its conversations continue.
   */
  remove(id: string, workspaceId: string): Promise<boolean>;
  config(id: string, workspaceId: string): Promise<HashedConfig | undefined>;
  /** The references that do not exist in the workspace, as problems of a configuration. */
  missing(references: References, workspaceId: string): Promise<readonly Problem[]>;
  /**
   * Replaces the draft by the result of `revise`; changes of one agent are serialised.
   * Errors: `validation_failed` if a tool or a knowledge source does not exist, `invalid_request` if two client
   * tools have the same name.
   */
  configure(
    id: string,
    workspaceId: string,
    revise: (current: AgentConfig) => ConfigRevision,
  ): Promise<HashedConfig | undefined>;
}

export interface VersionSummary {
  readonly number: number;
  readonly title: string | null;
  readonly description: string | null;
  readonly configHash: string;
  readonly publishedAt: Date;
}

export interface AgentVersion extends VersionSummary, HashedConfig {}

export interface Publication {
  readonly title: string | null;
  readonly description: string | null;
  /** As it was checked. */
  readonly voice: AgentConfig['voice'];
}

export interface AgentVersions {
  /** Undefined if there is no such agent, as in the other methods. Newest first. */
  list(agentId: string, workspaceId: string, page: PageRequest): Promise<Listed<VersionSummary> | undefined>;
  read(agentId: string, workspaceId: string, number: number): Promise<AgentVersion | undefined>;
  /**
   * Makes the draft, with its tools and the revisions of its knowledge, the next version. `changed` if its voice is no
   * longer the one that was checked. Errors: `validation_failed` if it is too large as a whole.
   */
  publish(
    agentId: string,
    workspaceId: string,
    about: Publication,
  ): Promise<AgentVersion | 'changed' | undefined>;
}

/** A revision of a knowledge source. */
export interface PinnedSource {
  readonly sourceId: string;
  readonly revision: number;
}

/**
 * Everything that a conversation runs on: configuration, tools and knowledge sources. Shared by all who ask for it, so it is
 * never changed.
 */
export interface RunnableVersion {
  /** 0 for a draft. */
  readonly number: number;
  readonly config: AgentConfig;
  readonly configHash: string;
  /** Frozen; in the order of attachment. */
  readonly tools: readonly FrozenTool[];
  readonly knowledge: readonly PinnedSource[];
}

export interface RunnableAgent {
  readonly agent: Agent;
  /** Undefined if nothing was published yet. */
  readonly version: RunnableVersion | undefined;
}

/** An agent as one that may take calls over, without what it runs on. */
export interface ReachableAgent {
  readonly agent: Pick<Agent, 'id' | 'name' | 'status'>;
  /** Its last version; undefined if nothing was published yet. */
  readonly version:
    | {
        readonly number: number;
        readonly language: AgentConfig['voice']['speaking_language'];
        /** Ids of the agents that it hands calls over to. */
        readonly targets: readonly string[];
      }
    | undefined;
}

export interface PublishedAgents {
  /** The agent with its last version. Without a workspace, as for public sessions: of any owner. */
  find(agentId: string, workspaceId?: string): Promise<RunnableAgent | undefined>;
  version(agentId: string, workspaceId: string, number: number): Promise<RunnableAgent | undefined>;
  reachable(agentId: string, workspaceId: string): Promise<ReachableAgent | undefined>;
  /** The agent with its draft, as for previews. Errors: `validation_failed` if it is too large as a whole. */
  draft(agentId: string, workspaceId: string): Promise<RunnableAgent | undefined>;
}

export interface WebhookSecrets {
  /** The secret that signs requests to that URL of the agent, or that of another slot (`initSlot`); undefined if there is none. */
  secretOf(agentId: string, slot: string): Promise<string | undefined>;
}
