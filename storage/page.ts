/** Pages of rows that carry their position (contracts/ports/page.ts). */
import type { Listed, PageRequest } from '../contracts/ports/page.js';

/** One row more than the page, which shows whether another page follows. */
export const wantedRows = ({ size }: PageRequest): number => size + 1;

/** Larger than every position. */
export const NOWHERE = '9223372036854775807';

export const positionAfter = ({ after }: PageRequest): string => after ?? NOWHERE;

/** `found` are `wantedRows` at most, in the list's order. */
export function listed<Found extends { readonly position: string }, Row>(
  found: readonly Found[],
  { size }: PageRequest,
  total: number | null,
  show: (row: Found) => Row,
): Listed<Row> {
  const rows = found.slice(0, size);
  const next = found.length > size ? (rows.at(-1)?.position ?? null) : null;
  return { rows: rows.map(show), next, total };
}
