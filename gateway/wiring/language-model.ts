/** The operator's language model (docs/contract/decisions.md "Language model"); undefined if none is configured. */
import type { Clock } from '../../contracts/clock.js';
import { ONLINE_TIMES } from '../../contracts/limits/online-times.js';
import type { ChatModel } from '../../contracts/ports/chat.js';
import { createOpenaiChat } from '../../engines/chat/openai-compatible.js';
import { PatientChat } from '../../engines/chat/with-fallback.js';
import type { Config } from '../config.js';
import { LLM_FALLBACK_URL, LLM_URL } from '../config/language-model.js';

/** A model that stays silent this long has failed, where nobody is on the line. */
const SILENCE_MS = 30_000;

type First = Pick<Config, 'llmUrl' | 'llmKey' | 'llmModel' | 'llmUsage' | 'llmContext'>;
type Both = First & Pick<Config, 'llmFirstWord' | 'llmFallbackUrl' | 'llmFallbackKey' | 'llmFallbackModel'>;

export function languageModel({
  llmUrl: url,
  llmKey: key,
  llmModel: model,
  llmUsage,
  llmContext,
}: First): ChatModel | undefined {
  if (url === undefined) return undefined;
  const asksUsage = llmUsage === 'true';
  return createOpenaiChat({
    url,
    model,
    asksUsage,
    silenceMs: SILENCE_MS,
    keySetting: 'LLM_API_KEY',
    ...(key !== undefined && { key }),
    ...(llmContext > 0 && { contextTokens: llmContext }),
  });
}

function fallbackModel(config: Both) {
  const { llmFallbackUrl: url, llmFallbackKey: key, llmFallbackModel: model, llmUsage } = config;
  if (url === undefined) return undefined;
  const chat = languageModel({ llmUrl: url, llmKey: key, llmModel: model, llmUsage, llmContext: 0 });
  return chat && { chat, address: new URL(url).host, setting: LLM_FALLBACK_URL };
}

/** The same for somebody on the line: bounded in time, with the second model if there is one. */
export function conversationModel(config: Both, clock: Clock): ChatModel | undefined {
  const chat = languageModel(config);
  if (!chat || config.llmUrl === undefined) return undefined;
  const second = fallbackModel(config);
  const { firstWordMs, firstOfTwoMs } = ONLINE_TIMES.model;
  return new PatientChat({
    first: { chat, address: new URL(config.llmUrl).host, setting: LLM_URL },
    second,
    firstWordMs: config.llmFirstWord * 1000 || (second ? firstOfTwoMs : firstWordMs),
    clock,
  });
}
