/** The models with which agents think: their own, or the gateway's, by the tier of their configuration. */
import type { Clock } from '../../contracts/clock.js';
import { ONLINE_TIMES } from '../../contracts/limits/online-times.js';
import type { AgentModels, TriedModels } from '../../contracts/ports/agents/models.js';
import { ChatWithFallback } from '../../engines/chat/with-fallback.js';
import { type ConversationModelConfig, gatewayModels } from './language-model.js';
import { OWN_MODEL, ownModel, type OwnModelParts } from './own-model.js';

export interface OpenAgentModels extends AgentModels, TriedModels {
  /** Names of the gateway's models, for the log. */
  readonly named: object;
}

export function agentModels(
  config: ConversationModelConfig,
  own: OwnModelParts,
  clock: Clock,
): OpenAgentModels {
  const { tiers, named } = gatewayModels(config, own.keeper, clock);
  const { firstWordMs } = ONLINE_TIMES.model;
  return {
    named,
    modelOf({ config: { llm }, agentId }, user) {
      if (!llm.custom) return tiers[llm.tier];
      const chat = ownModel(llm.custom, { ...user, agentId: agentId ?? user.agentId }, own);
      const first = { chat, address: chat.endpoint ?? '', setting: OWN_MODEL };
      return new ChatWithFallback({ first, firstWordMs, clock });
    },
    hasTier: (tier) => tier === 'medium' || tiers[tier] !== tiers.medium,
    hasKey: async (agentId, baseUrl) => (await own.keys.keyOf(agentId, baseUrl)) !== undefined,
    triedModel({ tier, custom }, agentId, key) {
      if (!custom) return tiers[tier];
      const keys = key === undefined ? own.keys : { keyOf: () => Promise.resolve(key) };
      return ownModel(custom, { agentId }, { ...own, keys });
    },
  };
}
