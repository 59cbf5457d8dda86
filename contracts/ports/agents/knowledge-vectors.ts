/** The passages of knowledge sources as vectors of a model of embeddings, and which sources are still to become some. */
import type { PinnedSource } from './agents.js';

/** A passage by its place. */
export interface PassagePlace extends PinnedSource {
  readonly position: number;
}

export interface RankedPassage extends PassagePlace {
  /** Higher is better. */
  readonly rank: number;
}

export interface UnembeddedPassage {
  readonly position: number;
  readonly text: string;
}

export interface EmbeddedSource extends PinnedSource {
  readonly passages: number;
  /** Numbers of a vector. */
  readonly dimensions: number;
}

/** Vectors of a source, by their places in it. */
export interface VectorPage {
  /** Numbers of each. */
  readonly dimensions: number;
  readonly positions: readonly number[];
  /** One behind the other, each as Postgres sends an array of `real` in binary. */
  readonly vectors: Uint8Array;
}

export interface KnowledgeVectors {
  /** Has all sources that are of another model become those of this one. `comparesItself`: the database has pgvector. */
  begin(model: string): Promise<{ readonly comparesItself: boolean }>;
  /** A source that is due, held for LIMITS.embedding.claimMs: nobody else gets it meanwhile. */
  claim(): Promise<PinnedSource | undefined>;
  /** The next passages of a source that have no vector of that model; none: it is whole. */
  unembedded(source: PinnedSource, model: string): Promise<readonly UnembeddedPassage[]>;
  /** Keeps the vectors of some passages, and holds the source for longer. */
  keep(
    source: PinnedSource,
    model: string,
    passages: readonly UnembeddedPassage[],
    vectors: readonly Float32Array[],
  ): Promise<void>;
  finish(source: PinnedSource, model: string): Promise<void>;
  /** Later, for it has failed: the later the more often. */
  postpone(source: PinnedSource): Promise<void>;
  /** Those of these sources that are whole, in their order. */
  embedded(
    workspaceId: string,
    sources: readonly PinnedSource[],
    model: string,
  ): Promise<readonly EmbeddedSource[]>;
  /** All vectors of a source, page by page. */
  vectors(source: EmbeddedSource): AsyncIterable<VectorPage>;
  /** The passages nearest to a vector, best first, where the database compares itself. */
  nearest(
    sources: readonly EmbeddedSource[],
    query: Float32Array,
    most: number,
  ): Promise<readonly RankedPassage[]>;
}
