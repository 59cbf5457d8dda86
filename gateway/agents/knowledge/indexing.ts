/**
 * Has the passages of new sources become vectors, beside the requests: at once where this gateway took them, else within
 * seconds. A source whose model server is away is tried again, the later the more often.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError, whyOf } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import type { PinnedSource } from '../../../contracts/ports/agents/agents.js';
import type { KnowledgeVectors } from '../../../contracts/ports/agents/knowledge-vectors.js';
import type { Embedder } from '../../../contracts/ports/embedding.js';
import { repeat } from '../../../contracts/time/repeat.js';

const LOOK_MS = 5000;

export interface IndexingParts {
  readonly vectors: KnowledgeVectors;
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly log: Log;
}

/** Statuses by which a server refuses a text, such as one that is too long for its model. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);
/** Shorter passages are not cut any further. */
const SHORTEST = 150;

const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'provider_failed' && REFUSALS.has(error.status);

/** The vectors of passages; of one that is refused, that of its beginning. Errors: those of the model. */
async function embedPassages(embedder: Embedder, texts: readonly string[]): Promise<readonly Float32Array[]> {
  try {
    return await embedder.embed(texts, 'passage', LIMITS.embedding.passagesMs);
  } catch (error) {
    const [first = '', ...others] = texts;
    if (!isRefusal(error) || (others.length === 0 && first.length <= SHORTEST)) throw error;
    if (others.length === 0) return embedPassages(embedder, [first.slice(0, first.length / 2)]);
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(...(await embedPassages(embedder, [text])));
    return vectors;
  }
}

/** Errors: those of the model and of the database. */
async function embedSource({ vectors, embedder }: IndexingParts, source: PinnedSource): Promise<void> {
  const { model } = embedder;
  for (;;) {
    const passages = await vectors.unembedded(source, model);
    if (passages.length === 0) break;
    const texts = passages.map(({ text }) => text);
    await vectors.keep(source, model, passages, await embedPassages(embedder, texts));
  }
  await vectors.finish(source, model);
}

/** Whether there was a source, and its model answered: then there may be another one. */
async function embedNext(parts: IndexingParts): Promise<boolean> {
  const source = await parts.vectors.claim();
  if (!source) return false;
  try {
    await embedSource(parts, source);
    return true;
  } catch (error) {
    await parts.vectors.postpone(source);
    // The keeper of parts has told the operator why; anything else is ours.
    if (!(error instanceof ServiceError)) throw error;
    return false;
  }
}

export interface Indexing {
  /** There is a new source. */
  wake(): void;
  stop(): void;
}

export function startIndexing(parts: IndexingParts): Indexing {
  let [isStopped, isRunning, isAwake] = [false, false, false];
  const failed = (error: unknown): void =>
    parts.log.warn(whyOf(error), 'the passages of knowledge sources could not be indexed by meaning');
  const work = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    try {
      do isAwake = false;
      while (!isStopped && ((await embedNext(parts)) || isAwake));
    } finally {
      isRunning = false;
    }
  };
  const stop = repeat(parts.clock, LOOK_MS, work, failed);
  return {
    wake() {
      isAwake = true;
      void work().catch(failed);
    },
    stop() {
      isStopped = true;
      stop();
    },
  };
}
