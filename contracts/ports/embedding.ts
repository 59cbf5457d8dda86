/** A model that turns texts into vectors, so that texts of like meaning lie close to each other. */
import type { ForWhom } from './parts.js';

/** Some models are told whether a text asks or answers. */
export type EmbeddedAs = 'question' | 'passage';

export interface Embedder {
  /** Vectors of another one cannot be compared. */
  readonly model: string;
  /** The vectors of the texts, in their order, each of length 1. Errors: `provider_failed`; `first_byte_timeout` after `ms`. */
  embed(
    texts: readonly string[],
    as: EmbeddedAs,
    ms: number,
    whom?: ForWhom,
  ): Promise<readonly Float32Array<ArrayBuffer>[]>;
}
