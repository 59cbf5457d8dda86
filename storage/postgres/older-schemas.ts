/**
 * Databases that were made before the migrations became one, and what brings each to 0001-schema.sql: the files of
 * `storage/migrations/older/`, named after the commit whose last migration the database has.
 */
import { readFileSync } from 'node:fs';
import { errorText } from '../../contracts/errors.js';
import { StorageFailure } from '../failure.js';
import type { Transaction } from './sql.js';

/** The last migration of each, and how many there were. */
const OLDER = [
  { commit: 'e1614f90', version: 33, name: 'sip-rooms', count: 31 },
  { commit: 'd80e168b', version: 47, name: 'failed-answers', count: 42 },
] as const;

/** The first migration of such a database. */
const FIRST = 'workspaces-keys-usage';

interface AppliedRow {
  readonly version: number;
  readonly name: string;
}

/**
 * Upgrades a database that has the migrations of before, and forgets these; the caller writes the row of 0001-schema.sql. Returns the
 * commit whose database it was, undefined where there is nothing to upgrade. Errors: `StorageFailure` for any other state of then.
 */
export async function upgradeOlder(
  tx: Transaction,
  folder: string,
  applied: readonly AppliedRow[],
): Promise<string | undefined> {
  if (applied[0]?.name !== FIRST) return undefined;
  const last = applied.at(-1)!;
  const older = OLDER.find(
    ({ version, name, count }) => version === last.version && name === last.name && count === applied.length,
  );
  if (!older)
    throw new StorageFailure(
      `The database was made by an unreleased version (its last migration is ${last.version}, ${last.name}). ` +
        `Start commit ${OLDER.at(-1)!.commit} on it once, then this version, or set another DATABASE_URL`,
    );
  try {
    await tx.unsafe(readFileSync(`${folder}/older/${older.commit}.sql`, 'utf8'));
  } catch (error) {
    throw new StorageFailure(`The upgrade from commit ${older.commit} failed: ${errorText(error)}`, {
      cause: error,
    });
  }
  await tx`delete from schema_migrations`;
  return older.commit;
}
