/** The pool that statements run on, one transaction of it, and a part of a statement. */
import type postgres from 'postgres';

export type Sql = postgres.Sql;
export type Transaction = postgres.TransactionSql;
export type Fragment = postgres.Fragment;
