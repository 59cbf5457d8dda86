/**
 * `node packages.mjs`, in a stage of the image: of the packages that npm has laid out it leaves those that a gateway loads as it runs.
 * The others are in the bundle already, or build it; they are 90 MB.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { LOADED } from '../package/manifest.mjs';
import { trimBindings } from '../setup/bindings.mjs';
import { linkPostgres } from '../setup/postgres-links.mjs';
import { trimPackages } from '../setup/trim.mjs';

/** The place in the lock of a package that the one at `place` asks for: beside it, or in a folder above. */
function placeOf(packages, place, name) {
  for (let folder = place; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const at = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[at] || folder === '') return packages[at] && at;
  }
}

const needs = ({ dependencies, optionalDependencies, peerDependencies }) =>
  Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });

/** The places in the lock of these packages and of all that they need. */
export function closure(packages, names) {
  const kept = new Set();
  function keep(name, from) {
    const place = placeOf(packages, from, name);
    if (!place || kept.has(place)) return;
    kept.add(place);
    for (const each of needs(packages[place])) keep(each, place);
  }
  for (const name of names) keep(name, '');
  return kept;
}

/** The packages that an image keeps, by their places in the lock. */
export function keptPlaces({ packages }) {
  const { dependencies, optionalDependencies } = LOADED;
  const extras = Object.keys(packages[''].peerDependencies);
  return closure(packages, [...dependencies, ...optionalDependencies, ...extras]);
}

/** Removes all other packages of the lock below `root`. */
function prune(root) {
  const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const kept = keptPlaces(lock);
  const holdsKept = (place) => [...kept].some((each) => each === place || each.startsWith(`${place}/`));
  for (const place of Object.keys(lock.packages).filter((each) => each !== '' && !holdsKept(each)))
    fs.rmSync(path.join(root, place), { recursive: true, force: true });
  fs.rmSync(path.join(root, 'node_modules', '.bin'), { recursive: true, force: true });
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) {
  prune(process.cwd());
  trimPackages('node_modules');
  trimBindings('node_modules', process, [process.versions.modules]);
  linkPostgres();
}
