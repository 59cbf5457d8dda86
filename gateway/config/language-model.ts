/** The settings of the language model that agents think with. */
import { address, choice, count, credential, text } from './setting.js';

export const LANGUAGE_MODEL = {
  llmUrl: address(
    'LLM_BASE_URL',
    'OpenAI-compatible server of the language model of agents, including /v1.',
    {
      shown: 'none: builtin-dialogue',
    },
  ),
  llmKey: credential('LLM_API_KEY', 'Its API key.'),
  llmModel: text('LLM_MODEL', 'default', 'Its model.'),
  llmContext: count(
    'LLM_CONTEXT_TOKENS',
    0,
    [0, 10_000_000],
    'Its context window in tokens; 0: about 20,000 tokens of a conversation are told, fewer once the model refuses them.',
  ),
  llmUsage: choice(
    'LLM_USAGE',
    'true',
    ['true', 'false'],
    'Whether to ask the model for its token usage (stream_options); false for servers that refuse the field.',
  ),
};
