/**
 * One page of a list (docs/contract/platform.md 6.2), newest first, between the dialect that serves it and the
 * store that reads it. A position is a row's place in its list: a decimal number that decreases from row to row.
 */
export interface PageRequest {
  /** Rows wanted, 1–100. */
  readonly size: number;
  /** Rows to skip; 0 if `after` is given. */
  readonly offset: number;
  /** The position of the last row of the previous page. */
  readonly after?: string;
  /** Whether the total number of rows is wanted as well. */
  readonly total: boolean;
}

export interface Listed<Row> {
  readonly rows: readonly Row[];
  /** The position of the last row if more follow, else null. */
  readonly next: string | null;
  /** Null if it was not requested. */
  readonly total: number | null;
}
