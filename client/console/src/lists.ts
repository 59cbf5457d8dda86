/** Complete lists to pick from, which the gateway sends in pages. */
import { ask } from './api.js';

type ListPage = Readonly<Record<string, unknown>> & { readonly next_cursor: string | null };

/** Most pages: more than anybody wants to pick from. */
const MAX_PAGES = 50;

/** All rows of `path`, which already has a query; at most 50 pages. Errors: those of `ask`. */
export async function allRows<Row>(
  path: string,
  plural: string,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < MAX_PAGES; pages += 1) {
    const page: ListPage = await ask<ListPage>(`${path}&cursor=${encodeURIComponent(cursor)}`, { signal });
    found.push(...(page[plural] as readonly Row[]));
    cursor = page.next_cursor;
  }
  return found;
}
