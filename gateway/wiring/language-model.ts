/** The operator's language model (docs/contract/decisions.md "Language model"); undefined if none is configured. */
import type { ChatModel } from '../../contracts/ports/chat.js';
import { createOpenaiChat } from '../../engines/chat/openai-compatible.js';
import type { Config } from '../config.js';

/** A model that stays silent this long has failed. */
const SILENCE_MS = 30_000;

export function languageModel({
  llmUrl: url,
  llmKey: key,
  llmModel: model,
  llmUsage,
  llmContext,
}: Pick<Config, 'llmUrl' | 'llmKey' | 'llmModel' | 'llmUsage' | 'llmContext'>): ChatModel | undefined {
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
