/** The settings of the model by whose vectors knowledge is searched. */
import { address, credential, text } from './setting.js';

/** Their names in the log, too. */
export const EMBEDDING_MODEL = 'EMBEDDING_MODEL';
export const EMBEDDING_URL = 'EMBEDDING_BASE_URL';
export const EMBEDDING_KEY = 'EMBEDDING_API_KEY';

export const EMBEDDINGS = {
  embeddingModel: text(
    EMBEDDING_MODEL,
    undefined,
    'Model of embeddings, by whose vectors knowledge is searched as well as by words.',
    { shown: 'none: by words alone' },
  ),
  embeddingUrl: address(EMBEDDING_URL, 'Its OpenAI-compatible server, including /v1.', {
    shown: 'LLM_BASE_URL',
  }),
  embeddingKey: credential(EMBEDDING_KEY, 'Its API key; with LLM_BASE_URL: LLM_API_KEY.'),
};
