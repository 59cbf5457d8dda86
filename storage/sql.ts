/** The pool that statements run on, and one transaction of it. */
import type postgres from 'postgres';

export type Sql = postgres.Sql;
export type Transaction = postgres.TransactionSql;
