/** The operator's language model (docs/contract/decisions.md "Language model"); undefined if none is configured. */
import type { Clock } from '../../contracts/clock.js';
import { ONLINE_TIMES } from '../../contracts/limits/online-times.js';
import type { LlmTier } from '../../contracts/schemas/agent-model.js';
import type { ChatModel } from '../../contracts/ports/chat.js';
import { type Keeper, originOf, type Part } from '../../contracts/ports/parts.js';
import { createBuiltinDialogue } from '../../engines/chat/builtin/index.js';
import { createOpenaiChat } from '../../engines/chat/openai-compatible.js';
import { watchedChat } from '../../engines/chat/watched.js';
import { ChatWithFallback } from '../../engines/chat/with-fallback.js';
import type { Config } from '../config.js';
import {
  LLM_FALLBACK_KEY,
  LLM_FALLBACK_MODEL,
  LLM_FALLBACK_URL,
  LLM_KEY,
  LLM_MODEL,
  LLM_URL,
} from '../config/language-model.js';

/** A model that stays silent this long has failed, where nobody is on the line. */
const SILENCE_MS = 30_000;

export type ModelConfig = Pick<Config, 'llmUrl' | 'llmKey' | 'llmModel' | 'llmUsage' | 'llmContext'>;
/** With the second model, and those of the tiers. */
export type ConversationModelConfig = ModelConfig &
  Pick<
    Config,
    | 'llmFirstWord'
    | 'llmFallbackUrl'
    | 'llmFallbackKey'
    | 'llmFallbackModel'
    | 'llmModelInstant'
    | 'llmModelHigh'
  >;

/** Its two servers: their names as parts of the gateway, and the settings that mend them. */
const SERVERS = {
  main: { address: LLM_URL, key: LLM_KEY, choice: `${LLM_URL} and ${LLM_MODEL}` },
  fallback: {
    address: LLM_FALLBACK_URL,
    key: LLM_FALLBACK_KEY,
    choice: `${LLM_FALLBACK_URL} and ${LLM_FALLBACK_MODEL}`,
  },
} as const;

export const modelPart = (name: keyof typeof SERVERS, url: string): Part => ({
  kind: 'model',
  name,
  address: originOf(url),
  settings: SERVERS[name],
});

export function languageModel(
  { llmUrl: url, llmKey: key, llmModel: model, llmUsage, llmContext }: ModelConfig,
  keeper: Keeper,
  name: keyof typeof SERVERS = 'main',
): ChatModel | undefined {
  if (url === undefined) return undefined;
  const asksUsage = llmUsage === 'true';
  const chat = createOpenaiChat({
    url,
    model,
    asksUsage,
    silenceMs: SILENCE_MS,
    keySetting: SERVERS[name].key,
    noun: 'language model',
    ...(key !== undefined && { key }),
    ...(llmContext > 0 && { contextTokens: llmContext }),
  });
  return watchedChat(chat, modelPart(name, url), keeper);
}

function fallbackModel(config: ConversationModelConfig, keeper: Keeper) {
  const { llmFallbackUrl: url, llmFallbackKey: key, llmFallbackModel: model, llmUsage } = config;
  if (url === undefined) return undefined;
  const settings = { llmUrl: url, llmKey: key, llmModel: model, llmUsage, llmContext: 0 };
  const chat = languageModel(settings, keeper, 'fallback');
  return chat && { chat, address: new URL(url).host, setting: LLM_FALLBACK_URL };
}

/** The same for somebody on the line: bounded in time, with the second model if there is one. */
function conversationModel(
  config: ConversationModelConfig,
  keeper: Keeper,
  clock: Clock,
): ChatModel | undefined {
  const chat = languageModel(config, keeper);
  if (!chat || config.llmUrl === undefined) return undefined;
  const second = fallbackModel(config, keeper);
  const { firstWordMs, firstOfTwoMs } = ONLINE_TIMES.model;
  return new ChatWithFallback({
    first: { chat, address: new URL(config.llmUrl).host, setting: LLM_URL },
    second,
    firstWordMs: config.llmFirstWord * 1000 || (second ? firstOfTwoMs : firstWordMs),
    clock,
  });
}

export interface GatewayModels {
  /** One of a tier for which no name is set is the one of `medium`, and the same object. */
  readonly tiers: Readonly<Record<LlmTier, ChatModel>>;
  /** Their names, for the log. */
  readonly named: { readonly model: string; readonly instant?: string; readonly high?: string };
}

/** The gateway's models for somebody on the line; `builtin-dialogue` if none is configured. */
export function gatewayModels(config: ConversationModelConfig, keeper: Keeper, clock: Clock): GatewayModels {
  const { llmModelInstant: instant, llmModelHigh: high } = config;
  const medium = conversationModel(config, keeper, clock) ?? createBuiltinDialogue();
  const called = (name: string | undefined): ChatModel =>
    (name === undefined ? undefined : conversationModel({ ...config, llmModel: name }, keeper, clock)) ??
    medium;
  return {
    tiers: { instant: called(instant), medium, high: called(high) },
    named: {
      model: medium.name,
      ...(instant !== undefined && { instant }),
      ...(high !== undefined && { high }),
    },
  };
}
