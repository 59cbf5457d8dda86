/** The operator's model of embeddings, and what knowledge does with it; undefined if none is configured. */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { LIMITS } from '../../contracts/limits.js';
import type { KnowledgeSearch, WordSearch } from '../../contracts/ports/agents/knowledge.js';
import type { Embedder } from '../../contracts/ports/embedding.js';
import { type Keeper, originOf, type Part } from '../../contracts/ports/parts.js';
import { ExactVectors } from '../../engines/embeddings/exact.js';
import { createOpenaiEmbedder } from '../../engines/embeddings/openai-compatible.js';
import type { Database } from '../../storage/postgres/database.js';
import { createKnowledgeVectors } from '../../storage/agents/knowledge-vectors.js';
import { startIndexing } from '../agents/knowledge/indexing.js';
import { nearestOnThread, searchByMeaning } from '../agents/knowledge/search.js';
import type { Config } from '../config.js';
import { EMBEDDING_KEY, EMBEDDING_MODEL, EMBEDDING_URL } from '../config/embeddings.js';
import { LLM_KEY, LLM_URL } from '../config/language-model.js';

export type EmbeddingConfig = Pick<
  Config,
  'embeddingModel' | 'embeddingUrl' | 'embeddingKey' | 'llmUrl' | 'llmKey'
>;

/** Where it is, and by which settings. A key goes to the server that it is for, and to no other. */
function placeOf({ embeddingUrl, embeddingKey, llmUrl, llmKey }: EmbeddingConfig) {
  if (embeddingUrl !== undefined)
    return { url: embeddingUrl, key: embeddingKey, address: EMBEDDING_URL, keySetting: EMBEDDING_KEY };
  if (llmUrl === undefined) return undefined;
  const keySetting = embeddingKey === undefined ? LLM_KEY : EMBEDDING_KEY;
  return { url: llmUrl, key: embeddingKey ?? llmKey, address: LLM_URL, keySetting };
}

export const EMBEDDING_PART = 'embeddings';

/** With the part of the gateway that it is. */
export function embedderOf(
  config: EmbeddingConfig,
  keeper: Keeper,
): { readonly embedder: Embedder; readonly part: Part } | undefined {
  const place = placeOf(config);
  const { embeddingModel: model } = config;
  if (!place || model === undefined) return undefined;
  const { url, key, address, keySetting } = place;
  const part: Part = {
    kind: 'model',
    name: EMBEDDING_PART,
    address: originOf(url),
    settings: { address, key: keySetting, choice: `${address} and ${EMBEDDING_MODEL}` },
  };
  const settings = { url, key, keySetting, model, noun: 'model of embeddings' };
  return { embedder: createOpenaiEmbedder(settings, part, keeper), part };
}

export interface MeaningOptions {
  readonly config: EmbeddingConfig;
  readonly database: Database;
  readonly keeper: Keeper;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Meaning {
  readonly model: string;
  /** Most passages that may be attached to one agent; undefined: the database compares by itself. */
  readonly mostPassages: number | undefined;
  readonly wake: () => void;
  search(words: WordSearch): KnowledgeSearch;
  stop(): Promise<void>;
}

/** Starts to make vectors of what has none. Errors: the database's. */
export async function openMeaning(options: MeaningOptions): Promise<Meaning | undefined> {
  const { config, database, keeper, clock, log } = options;
  const embedder = embedderOf(config, keeper)?.embedder;
  if (!embedder) return undefined;
  const vectors = createKnowledgeVectors(database);
  const { comparesItself } = await vectors.begin(embedder.model);
  const exact = new ExactVectors();
  const nearest = comparesItself ? vectors.nearest : nearestOnThread(exact, vectors, embedder.model);
  const indexing = startIndexing({ vectors, embedder, clock, log });
  return {
    model: embedder.model,
    mostPassages: comparesItself ? undefined : LIMITS.embedding.passages,
    wake: () => indexing.wake(),
    search: (words) => searchByMeaning({ words, vectors, embedder, nearest, clock }),
    stop() {
      indexing.stop();
      return exact.stop();
    },
  };
}
