/**
 * Migrations: `storage/migrations/NNNN-name.sql` in order, each in its own transaction with its row in
 * `schema_migrations`, all under one advisory lock, so that any number of processes may start at once.
 * A file that was applied is never changed: a different checksum refuses to start.
 *
 * During an upgrade, and after one is rolled back, the previous version runs on the newer schema: a migration may only
 * add (CONTRIBUTING.md). One that removes something names the newest migration that code must know to run on its schema,
 * in a line `-- needs NNNN`.
 */
import { errorText } from '../../contracts/errors.js';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../contracts/places.js';
import type { Log } from '../../contracts/log.js';
import { upgradeOlder } from './older-schemas.js';
import type { Sql, Transaction } from './sql.js';
import { StorageFailure } from '../failure.js';

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
  /** The newest migration that code must know to run on the schema after this one. */
  readonly needs: number;
}

type Applied = Omit<Migration, 'text'>;

export const MIGRATIONS = fileURLToPath(new URL('storage/migrations/', CHECKOUT));

const LOCK_WAIT = '5min';

const checksumOf = (text: string): string =>
  createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');

function readMigration(folder: string, file: string): Migration {
  const [, version, name] = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file) ?? [];
  if (name === undefined) throw new StorageFailure(`storage/migrations/${file} is not named NNNN-name.sql`);
  const text = readFileSync(`${folder}/${file}`, 'utf8');
  const [, needs = 0] = /^-- needs (\d{4})$/m.exec(text) ?? [];
  return { version: Number(version), name, text, checksum: checksumOf(text), needs: Number(needs) };
}

/** The migrations by number; numbers may be missing, but must be unique. */
function readMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  const migrations = files.sort().map((file) => readMigration(folder, file));
  const twice = migrations.find(({ version }, index) => migrations[index - 1]?.version === version);
  if (twice) throw new StorageFailure(`storage/migrations has two files with the number of ${twice.name}`);
  return migrations;
}

/** Runs work in a transaction, in one process at a time. */
export const exclusively = <T>(sql: Sql, name: string, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  sql.begin(async (tx) => {
    await tx`select set_config('statement_timeout', ${LOCK_WAIT}, true)`;
    await tx`select pg_advisory_xact_lock(hashtextextended(${`speech-gateway ${name}`}, 0))`;
    return work(tx);
  }) as Promise<T>;

function check(applied: readonly Applied[], migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  for (const row of applied) {
    const file = migrations.find(({ version }) => version === row.version);
    if (!file && row.version > newest && row.needs <= newest) continue;
    if (!file)
      throw new StorageFailure(
        `The database has migration ${row.version} (${row.name}), which this version does not know and cannot run with: start the newer version, or set another DATABASE_URL`,
      );
    if (file.checksum !== row.checksum)
      throw new StorageFailure(
        `Migration ${row.version} (${row.name}) was changed after it was applied to the database: restore its file and add a new one`,
      );
  }
}

const keep = async (tx: Transaction, { version, name, checksum, needs }: Migration): Promise<unknown> =>
  tx`insert into schema_migrations (version, name, checksum, needs)
    values (${version}, ${name}, ${checksum}, ${needs})`;

async function apply(tx: Transaction, migration: Migration): Promise<void> {
  const { version, name, text } = migration;
  try {
    await tx.unsafe(text);
  } catch (error) {
    throw new StorageFailure(`Migration ${version} (${name}) failed: ${errorText(error)}`, { cause: error });
  }
  await keep(tx, migration);
}

type Applying = Pick<Migration, 'version' | 'name'> & Pick<AppliedMigration, 'from'>;

/** Applies the first missing migration, or upgrades an older database to the first one; undefined if none is missing. */
const applyNext = (
  sql: Sql,
  folder: string,
  migrations: readonly Migration[],
): Promise<Applying | undefined> =>
  exclusively(sql, 'migrations', async (tx) => {
    await tx`create table if not exists schema_migrations (
      version integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`;
    await tx`alter table schema_migrations add column if not exists needs integer not null default 0`;
    const applied = await tx<Applied[]>`
      select version, name, checksum, needs from schema_migrations order by version`;
    const from = await upgradeOlder(tx, folder, applied);
    if (from !== undefined && migrations[0]) {
      await keep(tx, migrations[0]);
      return { ...migrations[0], from };
    }
    check(applied, migrations);
    const done = new Set(applied.map(({ version }) => version));
    const next = migrations.find(({ version }) => !done.has(version));
    if (next) await apply(tx, next);
    return next;
  });

/** A migration that was just applied. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly ms: number;
  /** The commit whose database was upgraded to it. */
  readonly from?: string;
}

/** A database that had no migration yet is one line, however many it gets. */
export function migrationLog(log: Log): { note(applied: AppliedMigration): void; end(): void } {
  let fresh: { count: number; ms: number } | undefined;
  return {
    note({ version, name, ms, from }) {
      if (from !== undefined) return log.info({ from, ms }, 'the database of an older version was upgraded');
      if (version === 1) fresh = { count: 0, ms: 0 };
      if (fresh) fresh = { count: fresh.count + 1, ms: fresh.ms + ms };
      else log.info({ migration: version, name, ms }, 'a migration was applied to the database');
    },
    end: () => void (fresh && log.info(fresh, 'the database was new: all migrations were applied')),
  };
}

/**
 * Brings the database up to date. Returns the names of the migrations that it applied itself. Errors:
 * `StorageFailure` if a migration fails, was changed, or is unknown to this version and needs a newer one. `note` is called after each.
 */
export async function migrate(
  sql: Sql,
  folder = MIGRATIONS,
  note: (applied: AppliedMigration) => void = () => undefined,
): Promise<readonly string[]> {
  const migrations = readMigrations(folder);
  const done: string[] = [];
  for (
    let begun = performance.now(), next;
    (next = await applyNext(sql, folder, migrations));
    begun = performance.now()
  ) {
    const { version, name } = next;
    const ms = Math.round(performance.now() - begun);
    note({ version, name, ms, ...(next.from !== undefined && { from: next.from }) });
    done.push(name);
  }
  return done;
}
