/**
 * Search in knowledge by words and by meaning, merged by reciprocal rank: each way knows only the order of its own finds. Words answer
 * alone where the model of embeddings is away or late, or where the sources have not become vectors yet.
 */
import { FairPlaces } from '../../../contracts/admission/fair-places.js';
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import { currentOwner, ownedBy } from '../../../contracts/owner.js';
import type { KnowledgeSearch, WordSearch } from '../../../contracts/ports/agents/knowledge.js';
import type {
  EmbeddedSource,
  KnowledgeVectors,
  PassagePlace,
  RankedPassage,
} from '../../../contracts/ports/agents/knowledge-vectors.js';
import type { Embedder } from '../../../contracts/ports/embedding.js';
import type { FoundBy } from '../../../contracts/sessions/turns.js';
import type { ExactVectors } from '../../../engines/embeddings/exact.js';

const {
  found: MOST_FOUND,
  passages: MOST_PASSAGES,
  timeShare: MEANING_SHARE,
  asked: MOST_ASKED,
  waiting: MOST_WAITING,
} = LIMITS.embedding;
/** The usual constant: the first ones count much more than those behind them, but no single one decides. */
const RANKS = 60;

export type Nearest = (
  sources: readonly EmbeddedSource[],
  query: Float32Array<ArrayBuffer>,
  most: number,
) => Promise<readonly RankedPassage[]>;

const keyOf = ({ sourceId, revision }: EmbeddedSource, model: string): string =>
  `${sourceId} ${revision} ${model}`;

/** So many sources, from the first on, as may be compared one by one. */
function comparable(sources: readonly EmbeddedSource[]): readonly EmbeddedSource[] {
  let sum = 0;
  const beyond = sources.findIndex(({ passages }) => (sum += passages) > MOST_PASSAGES);
  return beyond < 0 ? sources : sources.slice(0, beyond);
}

/** Compares on the thread, which is given the vectors of sources that it has not. */
export const nearestOnThread =
  (exact: ExactVectors, vectors: Pick<KnowledgeVectors, 'vectors'>, model: string): Nearest =>
  async (sources, query, most) => {
    const byKey = new Map(comparable(sources).map((source) => [keyOf(source, model), source]));
    // It outlives the question that was first: others wait for it, too.
    const keeping = ownedBy({ tag: 'knowledge vectors' }, () =>
      [...byKey].map(([key, source]) =>
        exact.keep(key, source.passages * (source.dimensions + 8), () => vectors.vectors(source)),
      ),
    );
    await Promise.all(keeping);
    const near = await exact.search([...byKey.keys()], query, most);
    return near.flatMap(({ key, position, rank }) => {
      const source = byKey.get(key);
      return source ? [{ sourceId: source.sourceId, revision: source.revision, position, rank }] : [];
    });
  };

const placeOf = ({ sourceId, revision, position }: PassagePlace): string =>
  `${sourceId} ${revision} ${position}`;

export interface MergedPassage extends RankedPassage {
  readonly by: FoundBy;
}

/** Reciprocal rank fusion, best first. */
export function merged(
  words: readonly RankedPassage[],
  meaning: readonly RankedPassage[],
): readonly MergedPassage[] {
  const found = new Map<string, MergedPassage>();
  const add = (passages: readonly RankedPassage[], by: FoundBy): void =>
    passages.forEach((passage, index) => {
      const before = found.get(placeOf(passage));
      const rank = (before?.rank ?? 0) + 1 / (RANKS + index + 1);
      found.set(placeOf(passage), { ...passage, rank, by: before ? 'both' : by });
    });
  add(words, 'words');
  add(meaning, 'meaning');
  return [...found.values()].sort((a, b) => b.rank - a.rank);
}

/** Characters of a question for the model, from its newest turn on: small models read 512 tokens. */
const MOST_CHARACTERS = 600;

/** A question as one text, in the order in which it was said: models read it as a whole. */
export function asText(question: string): string {
  const turns = question.split('\n');
  let length = 0;
  const beyond = turns.findIndex((turn) => (length += turn.length) > MOST_CHARACTERS);
  const told = beyond < 0 ? turns : turns.slice(0, Math.max(1, beyond));
  return told.reverse().join('\n').slice(0, MOST_CHARACTERS);
}

export interface MeaningParts {
  readonly words: WordSearch;
  readonly vectors: Pick<KnowledgeVectors, 'embedded'>;
  readonly embedder: Embedder;
  readonly nearest: Nearest;
  readonly clock: Clock;
}

/** Errors: those of the database and of the model, `engine_busy` if too many ask. */
async function byMeaning(
  { vectors, embedder, nearest, places }: MeaningParts & { readonly places: FairPlaces },
  [workspaceId, sources, question]: Parameters<KnowledgeSearch['search']>,
  ms: number,
): Promise<readonly RankedPassage[]> {
  const known = await vectors.embedded(workspaceId, sources, embedder.model);
  if (known.length === 0) return [];
  const owner = { workspaceTag: workspaceId, isLive: currentOwner()?.withinMs !== undefined };
  const leave = await places.turn(owner, AbortSignal.timeout(ms));
  try {
    const [query] = await embedder.embed([asText(question)], 'question', ms, { workspaceId });
    return query ? await nearest(known, query, MOST_FOUND) : [];
  } finally {
    leave();
  }
}

/** What comes in time; none that fails or is late, and goes on for the next question. */
async function inTime(
  clock: Clock,
  ms: number,
  work: Promise<readonly RankedPassage[]>,
): Promise<readonly RankedPassage[]> {
  let stop = (): void => undefined;
  const late = new Promise<readonly RankedPassage[]>((resolve) => {
    stop = clock.after(ms, () => resolve([]));
  });
  const found = await Promise.race([work.catch(() => []), late]);
  stop();
  return found;
}

/** Does the work in what is left of the time of its owner. */
function inTheRest<T>(passedMs: number, work: () => Promise<T>): Promise<T> {
  const owner = currentOwner();
  if (owner?.withinMs === undefined) return work();
  return ownedBy({ ...owner, withinMs: Math.max(1, owner.withinMs - passedMs) }, work);
}

/** Errors of `search`: those of the search by words. */
export function searchByMeaning(parts: MeaningParts): KnowledgeSearch {
  const { words, clock } = parts;
  const places = new FairPlaces({ slots: MOST_ASKED, queue: MOST_WAITING });
  return {
    whole: (...of) => words.whole(...of),
    async search(...of) {
      const [workspaceId, sources, question, limit] = of;
      if (question.trim() === '' || sources.length === 0) return [];
      const begun = clock.monotonic();
      const ms = (currentOwner()?.withinMs ?? LIMITS.statements.readMs) * MEANING_SHARE;
      const [byWords, meant] = await Promise.all([
        words.ranked(workspaceId, sources, question, MOST_FOUND),
        inTime(clock, ms, byMeaning({ ...parts, places }, of, ms)),
      ]);
      const found = merged(byWords, meant).slice(0, limit);
      if (found.length === 0) return [];
      return inTheRest(clock.monotonic() - begun, () => words.told(workspaceId, found));
    },
  };
}
