/**
 * The o200k_base tokenizer as a counter that no text makes slow: pieces are merged with a heap, O(n log n), while
 * stock tokenizers take O(n²) (100,000 letters without a space: 20 s), and counting stops at the limit.
 * The vocabulary (200,000 entries) is built once, on the thread that counts.
 */
import { readFileSync } from 'node:fs';
import { modelFile } from '../backends/model-files.js';
import { TokenVocabulary } from './vocabulary.js';

/** The part of the vocabulary's package that set-up keeps. */
interface Ranks {
  /** Pattern that splits a text into pieces. */
  readonly pat_str: string;
  /** `FIRST_RANK`, and the entries in base64. */
  readonly bpe_ranks: string;
}

/** The vocabulary's file below the folder of the models. */
export const RANKS_FILE = 'o200k/o200k_base.js';

/** The file is a module that exports JSON, and is read as such. Throws an Error that names a missing file. */
function readRanks(modelsFolder: string): Ranks {
  const file = modelFile(modelsFolder, RANKS_FILE);
  const [, json = ''] = /^export default (\{.*\});?\s*$/s.exec(readFileSync(file, 'utf8')) ?? [];
  return JSON.parse(json) as Ranks;
}

/** A mark, and the rank of the first entry. */
const FIRST_RANK = '! 0 ';
/** The longest entry of the vocabulary, in bytes. */
const LONGEST = 128;
const CACHED = 20_000;
const CACHED_LENGTH = 32;

/** A possible merge of the part at `at` with its neighbour; stale once either has changed. */
interface Merge {
  readonly rank: number;
  readonly at: number;
  readonly age: number;
  readonly neighbourAge: number;
}

const goesFirst = (a: Merge, b: Merge): boolean => a.rank < b.rank || (a.rank === b.rank && a.at < b.at);

class MergeHeap {
  readonly #items: Merge[] = [];

  push(merge: Merge): void {
    const items = this.#items;
    let at = items.push(merge) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!goesFirst(merge, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = merge;
  }

  pop(): Merge | undefined {
    const items = this.#items;
    const [top] = items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && goesFirst(items[child + 1]!, items[child]!)) child++;
      if (!goesFirst(items[child]!, last)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = last;
    return top;
  }
}

function countPiece(bytes: Uint8Array, vocabulary: TokenVocabulary): number {
  const { length } = bytes;
  if (length === 1 || vocabulary.rankOf(bytes, 0, length) >= 0) return 1;
  const next = Int32Array.from({ length }, (_, at) => at + 1);
  const previous = Int32Array.from({ length }, (_, at) => at - 1);
  const ages = new Int32Array(length);
  const heap = new MergeHeap();
  const offer = (at: number): void => {
    const neighbour = next[at]!;
    if (neighbour >= length || next[neighbour]! - at > LONGEST) return;
    const rank = vocabulary.rankOf(bytes, at, next[neighbour]!);
    if (rank >= 0) heap.push({ rank, at, age: ages[at]!, neighbourAge: ages[neighbour]! });
  };
  for (let at = 0; at < length - 1; at++) offer(at);
  let count = length;
  for (let merge; (merge = heap.pop());) {
    const { at, age, neighbourAge } = merge;
    const neighbour = next[at]!;
    if (ages[at] !== age || neighbour >= length || ages[neighbour] !== neighbourAge) continue;
    next[at] = next[neighbour]!;
    if (next[at]! < length) previous[next[at]!] = at;
    ages[neighbour] = -1;
    ages[at]!++;
    count--;
    offer(at);
    if (previous[at]! >= 0) offer(previous[at]!);
  }
  return count;
}

export interface Counter {
  /** Number of tokens of the text; if it exceeds `limit`, any number above that. */
  count(text: string, limit?: number): number;
}

export function createCounter(modelsFolder: string): Counter {
  const { pat_str, bpe_ranks } = readRanks(modelsFolder);
  const vocabulary = new TokenVocabulary(bpe_ranks.slice(FIRST_RANK.length));
  const pieces = new RegExp(pat_str, 'gu');
  const known = new Map<string, number>();

  function ofPiece(piece: string): number {
    const cached = known.get(piece);
    if (cached !== undefined) return cached;
    const count = countPiece(Buffer.from(piece, 'utf8'), vocabulary);
    if (piece.length > CACHED_LENGTH) return count;
    if (known.size >= CACHED) known.clear();
    known.set(piece, count);
    return count;
  }

  return {
    count(text, limit = Infinity) {
      let count = 0;
      for (const [piece] of text.matchAll(pieces)) {
        count += ofPiece(piece);
        if (count > limit) break;
      }
      return count;
    },
  };
}
