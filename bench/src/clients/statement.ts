/** SQL statements on connections that are there: the least work for whoever answers out of a database. */
import { connectDatabase, type DatabaseAddress } from '../servers/database.js';
import type { Client } from './client.js';

export interface StatementParams {
  readonly database: DatabaseAddress;
  readonly connections: number;
  /** One after another, in each request. */
  readonly statements: readonly string[];
}

export function createStatement({ database, connections, statements }: StatementParams): Client {
  const sql = connectDatabase(database, connections);
  return {
    async perform() {
      for (const statement of statements) await sql.unsafe(statement, [], { prepare: true });
      const end = performance.now();
      return () => ({ instants: { e2e: end } });
    },
    close: () => sql.end(),
  };
}
