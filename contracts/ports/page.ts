/**
 * One page of a list (docs/contract/platform.md 6.2), newest first, between the dialect that is asked for it and the
 * store that reads it. A position is a row's place in its list: a decimal number that falls from row to row.
 */
export interface PageRequest {
  /** Rows wanted, 1–100. */
  readonly size: number;
  /** Rows that are passed over; 0 where `after` is given. */
  readonly offset: number;
  /** The position of the last row of the page before. */
  readonly after?: string;
  /** Whether the number of all rows is wanted as well. */
  readonly total: boolean;
}

export interface Listed<Row> {
  readonly rows: readonly Row[];
  /** The position of the last row where more follow, else null. */
  readonly next: string | null;
  /** Null where it was not asked for. */
  readonly total: number | null;
}
