/** `limit` and `offset` of a list: clients ask for further pages until one is not full. */
import { MOST_ENTRIES } from '../../../contracts/options/protocol-a.js';
import { invalid } from '../../../contracts/schemas/valid.js';

const WHOLE = /^\d{1,9}$/;

/** A whole number of the query; undefined if absent or empty. Errors: `invalid_request`. */
function wholeOf(query: URLSearchParams, name: string, least: number): number | undefined {
  const text = query.get(name);
  if (!text) return undefined;
  const value = WHOLE.test(text) ? Number(text) : -1;
  if (value >= least) return value;
  throw invalid(`${name} must be a whole number from ${least} to ${MOST_ENTRIES}`, name);
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Offset of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

/** The page that the query asks for; by default all items. Errors: `invalid_request`. */
export function pageOf<T>(items: readonly T[], query: URLSearchParams): Page<T> {
  const offset = wholeOf(query, 'offset', 0) ?? 0;
  const end = offset + (wholeOf(query, 'limit', 1) ?? items.length);
  return { items: items.slice(offset, end), next: end < items.length ? end : undefined };
}
