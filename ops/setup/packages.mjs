/**
 * Packages as package-lock.json says, by `npm ci --ignore-scripts`. The stamp lies in node_modules, so it goes
 * when they do. A node_modules that npm itself laid out from this very lock is adopted, not laid out again.
 */
import fs from 'node:fs';
import path from 'node:path';
import { SetupError } from './failure.mjs';
import { npm } from './npm.mjs';
import { hasStamp, keyOf, removeStamp, writeStamp } from './stamps.mjs';

/** Packages with binaries are laid out for one platform and one version of Node's binary interface. */
const PLATFORM = `${process.platform} ${process.arch} ${process.versions.modules}`;

const stampFile = (folder) => path.join(folder, 'node_modules', '.setup', 'packages');

/** What the packages in `folder` are to be made from. */
export const packagesKey = (folder) =>
  keyOf(
    fs.readFileSync(path.join(folder, 'package-lock.json')),
    fs.readFileSync(path.join(folder, 'package.json')),
    PLATFORM,
  );

export const packagesReady = (folder) => hasStamp(stampFile(folder), packagesKey(folder));

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/** The dependencies that package.json and the lock name differently; `npm ci` refuses to work with any. */
export function disagreements(folder) {
  const wanted = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const locked = packagesOf(path.join(folder, 'package-lock.json'))[''];
  return SECTIONS.flatMap((section) =>
    Object.keys({ ...wanted[section], ...locked[section] }).filter(
      (dependency) => wanted[section]?.[dependency] !== locked[section]?.[dependency],
    ),
  );
}

const packagesOf = (lockFile) => JSON.parse(fs.readFileSync(lockFile, 'utf8')).packages;

const fitsHere = ({ os = [process.platform], cpu = [process.arch] }) =>
  os.includes(process.platform) && cpu.includes(process.arch);

/** Whether every package of the lock is in node_modules by npm's own record of it. */
export function laidOutFromLock(folder) {
  try {
    const wanted = packagesOf(path.join(folder, 'package-lock.json'));
    const present = packagesOf(path.join(folder, 'node_modules', '.package-lock.json'));
    const isThere = ([place, { version, integrity }]) =>
      present[place]?.version === version &&
      present[place].integrity === integrity &&
      fs.existsSync(path.join(folder, place, 'package.json'));
    return Object.entries(wanted)
      .filter(([place, entry]) => place !== '' && fitsHere(entry))
      .every(isThere);
  } catch {
    return false;
  }
}

/** Counts tarballs as npm gets them, for the live line. */
function counter(folder, note) {
  const places = Object.entries(packagesOf(path.join(folder, 'package-lock.json')));
  const total = places.filter(([place, entry]) => place !== '' && fitsHere(entry)).length;
  let fetched = 0;
  return (line) => {
    if (/^npm http .*\.tgz\b/.test(line)) note(`${Math.min(++fetched, total)} of ${total}`);
  };
}

/** Lays out `folder`'s packages. Throws SetupError. */
export async function installPackages(folder, { note, signal }) {
  const key = packagesKey(folder);
  const differing = disagreements(folder).join(', ');
  if (differing)
    throw new SetupError(
      `packages: package-lock.json and package.json disagree on ${differing}; npm install settles it`,
    );
  if (!laidOutFromLock(folder)) {
    removeStamp(stampFile(folder));
    await npm('packages', ['ci', '--include=dev', '--include=optional', '--loglevel=http'], {
      cwd: folder,
      signal,
      onLine: counter(folder, note),
    });
  }
  writeStamp(stampFile(folder), key);
}
