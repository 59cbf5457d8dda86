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

/** Errors: those of the model and of the database. */
async function embedSource({ vectors, embedder }: IndexingParts, source: PinnedSource): Promise<void> {
  const { model } = embedder;
  for (;;) {
    const passages = await vectors.unembedded(source, model);
    if (passages.length === 0) break;
    const texts = passages.map(({ text }) => text);
    const made = await embedder.embed(texts, 'passage', LIMITS.embedding.passagesMs);
    await vectors.keep(source, model, passages, made);
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
