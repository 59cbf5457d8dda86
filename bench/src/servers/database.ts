/** The database of a gateway of a checkout: the embedded Postgres in its data folder. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import type { StartedServer } from './checkout.js';

/** Postgres' lock file: process, folder, start, port and socket folder, a line each. */
const TOLD = 'postmaster.pid';
const LINES = { port: 3, socketFolder: 4 } as const;

/** As the driver takes it; can be sent to a generator. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** Throws Error where no server runs in the folder. */
export function databaseOf({ dataDir }: Pick<StartedServer, 'dataDir'>): DatabaseAddress {
  const file = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).find(
    (name) => path.basename(name) === TOLD,
  );
  if (file === undefined) throw new Error(`no Postgres runs in ${dataDir}`);
  const lines = readFileSync(path.join(dataDir, file), 'utf8').split('\n');
  const [port, host] = [Number(lines[LINES.port]), lines[LINES.socketFolder] ?? ''];
  return { host, port, user: 'postgres', database: 'postgres' };
}

export type Sql = postgres.Sql;

export const connectDatabase = (address: DatabaseAddress, connections = 1): Sql =>
  postgres({ ...address, max: connections, onnotice: () => {} });
