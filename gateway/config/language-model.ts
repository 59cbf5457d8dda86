/** The settings of the language model that agents think with. */
import { address, choice, count, credential, text } from './setting.js';

/** Their names in the log, too. */
export const LLM_URL = 'LLM_BASE_URL';
export const LLM_FALLBACK_URL = 'LLM_FALLBACK_BASE_URL';
export const LLM_KEY = 'LLM_API_KEY';
export const LLM_FALLBACK_KEY = 'LLM_FALLBACK_API_KEY';
export const LLM_MODEL = 'LLM_MODEL';
export const LLM_MODEL_INSTANT = 'LLM_MODEL_INSTANT';
export const LLM_MODEL_HIGH = 'LLM_MODEL_HIGH';
export const LLM_FALLBACK_MODEL = 'LLM_FALLBACK_MODEL';

export const LANGUAGE_MODEL = {
  llmUrl: address(LLM_URL, 'OpenAI-compatible server of the language model of agents, including /v1.', {
    shown: 'none: builtin-dialogue',
  }),
  llmKey: credential(LLM_KEY, 'Its API key.'),
  llmModel: text(LLM_MODEL, 'default', 'Its model.'),
  llmModelInstant: text(
    LLM_MODEL_INSTANT,
    undefined,
    'Its model for agents whose `llm.tier` is `instant`: one that answers sooner.',
    { shown: LLM_MODEL },
  ),
  llmModelHigh: text(
    LLM_MODEL_HIGH,
    undefined,
    'Its model for agents whose `llm.tier` is `high`: one that thinks better.',
    { shown: LLM_MODEL },
  ),
  llmContext: count(
    'LLM_CONTEXT_TOKENS',
    0,
    [0, 10_000_000],
    'Its context window in tokens; 0: about 20,000 tokens of a conversation are told, fewer once the model refuses them.',
  ),
  llmFirstWord: count(
    'LLM_FIRST_WORD_SECONDS',
    0,
    [0, 60],
    'How long its first spoken word is waited for in a call; 0: 10 seconds, or 4 where a second model is set.',
  ),
  llmFallbackUrl: address(
    LLM_FALLBACK_URL,
    'A second server, asked in calls where the first fails or says nothing in time.',
  ),
  llmFallbackKey: credential(LLM_FALLBACK_KEY, 'Its API key.'),
  llmFallbackModel: text(LLM_FALLBACK_MODEL, 'default', 'Its model.'),
  llmDrafts: choice(
    'LLM_DRAFTS',
    'on',
    ['on', 'off'],
    'Whether agents ask it for a draft of an answer before it is certain that the user has finished; off: none does, whatever its configuration says.',
  ),
  llmUsage: choice(
    'LLM_USAGE',
    'true',
    ['true', 'false'],
    'Whether to ask the model for its token usage (stream_options); false for servers that refuse the field.',
  ),
};
