/** States of a lifecycle (contracts/lifecycle.ts) in statements. */
import type { Fragment, Sql, Transaction } from './sql.js';

/**
 * The states as a list of literals, for `in`. As parameters they would hide partial indexes (`where status in (…)`) from plans that are
 * made once for a connection. They are names from the code, never input.
 */
export const oneOf = (sql: Sql | Transaction, states: readonly string[]): Fragment =>
  sql.unsafe(`(${states.map((state) => `'${state}'`).join(', ')})`) as unknown as Fragment;
