/** The language models that agents think with. */
import type { ChatModel } from '../chat.js';
import type { SessionPlan } from '../sessions/sessions.js';

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
