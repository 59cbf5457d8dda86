/** The models with which agents think: the gateway's, by the tier of their configuration. */
import type { Clock } from '../../contracts/clock.js';
import type { AgentModels } from '../../contracts/ports/agents/models.js';
import type { Keeper } from '../../contracts/ports/parts.js';
import { type ConversationModelConfig, gatewayModels } from './language-model.js';

export interface OpenAgentModels extends AgentModels {
  /** Names of the gateway's models, for the log. */
  readonly named: object;
}

export function agentModels(config: ConversationModelConfig, keeper: Keeper, clock: Clock): OpenAgentModels {
  const { tiers, named } = gatewayModels(config, keeper, clock);
  return { named, modelOf: ({ config: { llm } }) => tiers[llm.tier] };
}
