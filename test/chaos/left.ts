/** Finds leftovers of a run, after the time that leases and sweeps need. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from '../../storage/postgres/sql.js';
import { until } from '../fixtures/until.js';
import type { ChaosNode } from './nodes.js';

const PATIENCE_MS = 150_000;

/** Rows that refer to something released. */
const rows = async (sql: Sql): Promise<readonly string[]> => {
  const found = await sql<{ what: string }[]>`
    select 'session ' || id || ' ' || status as what from sessions where status in ('pending', 'active')
    union all
    select held || ' slots of ' || process_id from slot_leases where held > 0 and expires_at > clock_timestamp()
    union all
    select 'token held by ' || held_by from client_secrets where held_until > clock_timestamp()
    union all
    select 'node ' || process_id || ' silent' from session_owners where seen_at < now() - interval '10 seconds'
    union all
    select 'delivery ' || id from deliveries where settled_at is null`;
  return found.map(({ what }) => what);
};

/** Leftovers while the nodes still run. */
export async function leftInRows(sql: Sql): Promise<readonly string[]> {
  const settled = async (): Promise<boolean> => (await rows(sql)).length === 0;
  return until('nothing is left', settled, PATIENCE_MS).then(
    () => [],
    () => rows(sql),
  );
}

const filesBelow = (folder: string): string[] => {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
};

/** Leftovers once they have stopped. */
export const leftOnMachine = (nodes: readonly ChaosNode[]): readonly string[] =>
  nodes.flatMap((node) => [
    ...node.left().map(({ pid, command }) => `process ${pid} of ${node.name}: ${command}`),
    ...filesBelow(join(node.dataDir, 'run')).map((file) => `file of ${node.name}: run/${file}`),
  ]);
