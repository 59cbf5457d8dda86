/** Knowledge sources of a workspace: texts from which agents answer (docs/contract/platform.md 6.1). */
import type { FoundBy } from '../../sessions/turns.js';
import type { PinnedSource } from './agents.js';
import type { RankedPassage } from './knowledge-vectors.js';
import type { Listed, PageRequest } from '../page.js';
import type { AgentReferences } from './tools.js';

export interface KnowledgeSource {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly chunkCount: number;
  /** ISO 639-1, `und` if it is none that is told apart; null: written by the previous release, and not read yet. */
  readonly language: string | null;
  readonly indexing: Indexing;
  /** Grows with each new content. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SourceFile {
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly content: string;
}

export interface KnowledgeDetail extends KnowledgeSource {
  readonly content: string;
}

/** A part of a source that fits a question. */
export interface Passage {
  readonly sourceId: string;
  readonly source: string;
  readonly text: string;
  /** Higher is better. */
  readonly rank: number;
  readonly by: FoundBy;
}

/**
 * How far a source is on the way to be found by meaning. `off`: there is no model of embeddings; `failed`: the last attempt did,
 * and another follows.
 */
export const INDEXING = ['off', 'pending', 'failed', 'done'] as const;
export type Indexing = (typeof INDEXING)[number];

export interface Knowledge {
  list(workspaceId: string, search: string | undefined, page: PageRequest): Promise<Listed<KnowledgeSource>>;
  read(id: string, workspaceId: string): Promise<KnowledgeDetail | undefined>;
  create(
    source: { readonly name: string; readonly description: string; readonly file: SourceFile },
    workspaceId: string,
  ): Promise<KnowledgeDetail>;
  /** Changes the given fields; a file makes a new revision. */
  change(
    id: string,
    workspaceId: string,
    change: { readonly name?: string; readonly description?: string; readonly file?: SourceFile },
  ): Promise<KnowledgeDetail | undefined>;
  /** False if there is none. Errors: `conflict` while a draft or the last version of an agent refers to it. */
  remove(id: string, workspaceId: string): Promise<boolean>;
  /** Of the newest revisions of these sources, all together. */
  countPassages(ids: readonly string[], workspaceId: string): Promise<number>;
  agents(id: string, workspaceId: string): Promise<AgentReferences | undefined>;
}

export interface KnowledgeSearch {
  /** The texts of these revisions as they are, in that order, if they have at most so many bytes together; else none. */
  whole(workspaceId: string, sources: readonly PinnedSource[], bytes: number): Promise<readonly Passage[]>;
  /** The passages of these revisions that fit the question best, best first; at most `limit`. The question: a turn a line, the newest first. */
  search(
    workspaceId: string,
    sources: readonly PinnedSource[],
    question: string,
    limit: number,
  ): Promise<readonly Passage[]>;
}

/** Search by words alone, in its steps. */
export interface WordSearch extends Pick<KnowledgeSearch, 'whole'> {
  /** The best passages, best first. */
  ranked(
    workspaceId: string,
    sources: readonly PinnedSource[],
    question: string,
    limit: number,
  ): Promise<readonly RankedPassage[]>;
  /** Their texts, in that order. */
  told(
    workspaceId: string,
    found: readonly (RankedPassage & { readonly by: FoundBy })[],
  ): Promise<readonly Passage[]>;
}
