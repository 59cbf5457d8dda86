/** The language models that agents think with. */
import type { ChatModel } from '../chat.js';
import type { SessionPlan } from '../sessions/sessions.js';
import type { LlmTier } from '../../schemas/agent-model.js';
import type { AgentConfig } from '../../schemas/agent-config.js';

/** For whom an agent thinks. */
export interface ModelUser {
  readonly agentId: string;
  readonly sessionId: string;
  /** The user's id as the session's request has it. */
  readonly endUserId: string | null;
}

export interface AgentModels {
  /** The model of the plan's agent for somebody on the line. */
  modelOf(plan: Pick<SessionPlan, 'config' | 'agentId'>, user: ModelUser): ChatModel;
}

export interface ModelKeys {
  /** The key of the agent's own model at that address; undefined if there is none. Errors: the database's. */
  keyOf(agentId: string, baseUrl: string): Promise<string | undefined>;
}

export interface TriedModels {
  /** Whether the tier has a model of its own; otherwise the usual one answers. */
  hasTier(tier: LlmTier): boolean;
  /** Whether a key is kept for that address of the agent. */
  hasKey(agentId: string, baseUrl: string): Promise<boolean>;
  /** The agent's model outside of any session, asked once; `key`: in place of the stored one. */
  triedModel(llm: AgentConfig['llm'], agentId: string, key?: string): ChatModel;
}
