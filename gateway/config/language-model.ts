/** The settings of the language model that agents think with. */
import { address, choice, secret, text } from './setting.js';

export const LANGUAGE_MODEL = {
  llmUrl: address('LLM_BASE_URL', 'OpenAI-compatible address with its /v1 that agents think with.', {
    shown: 'none: builtin-dialogue',
  }),
  llmKey: secret('LLM_API_KEY', 'Its API key.'),
  llmModel: text('LLM_MODEL', 'default', 'Its model.'),
  llmUsage: choice(
    'LLM_USAGE',
    'true',
    ['true', 'false'],
    'Whether it is asked how many tokens it used (stream_options); false for servers that refuse the field.',
  ),
};
