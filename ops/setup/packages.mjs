/**
 * Packages as package-lock.json says, by `npm ci --ignore-scripts`. The stamps, one a part, lie in node_modules, so they
 * go when it does. A node_modules that npm itself laid out from this very lock is adopted, not laid out again.
 */
import fs from 'node:fs';
import path from 'node:path';
import { SetupError } from './failure.mjs';
import { npm } from './npm.mjs';
import { EVERYTHING, isWithin, partArguments } from './parts.mjs';
import { hasStamp, keyOf, removeStamp, writeStamp } from './stamps.mjs';
import { trimPackages } from './trim.mjs';

/** The C library that Node runs on; npm lays out binaries for one of them. */
function libcHere() {
  try {
    return fs.readFileSync('/proc/self/maps', 'latin1').includes('ld-musl') ? 'musl' : 'glibc';
  } catch {
    return undefined;
  }
}

const LIBC = libcHere();

/** Packages with binaries are laid out for one platform and one version of Node's binary interface. */
const PLATFORM = `${process.platform} ${process.arch} ${LIBC} ${process.versions.modules}`;

const stampFile = (folder, part) =>
  path.join(folder, 'node_modules', '.setup', part === undefined ? 'packages' : `packages-${part}`);

/** A key of the lock, the manifest and the platform that the packages in `folder` are made from. */
export const packagesKey = (folder) =>
  keyOf(
    fs.readFileSync(path.join(folder, 'package-lock.json')),
    fs.readFileSync(path.join(folder, 'package.json')),
    PLATFORM,
  );

const stampsOf = (folder, parts) => [undefined, ...parts].map((part) => stampFile(folder, part));

/** Whether the packages of the gateway and of these parts (parts.mjs) are laid out. */
export const packagesReady = (folder, parts = EVERYTHING) =>
  stampsOf(folder, parts).every((file) => hasStamp(file, packagesKey(folder)));

/** Packages laid out here earlier, from whatever lock: they are kept. */
const partsBefore = (folder) => EVERYTHING.filter((part) => fs.existsSync(stampFile(folder, part)));

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

const fitsHere = ({ os = [process.platform], cpu = [process.arch], libc = [LIBC] }) =>
  os.includes(process.platform) && cpu.includes(process.arch) && libc.includes(LIBC);

/** The packages of the lock that belong here, by their place. */
const expected = (folder, parts) =>
  Object.entries(packagesOf(path.join(folder, 'package-lock.json'))).filter(
    ([place, entry]) => place !== '' && fitsHere(entry) && isWithin(entry, parts),
  );

/** Whether every such package is in node_modules by npm's own record of it. */
export function laidOutFromLock(folder, parts = EVERYTHING) {
  try {
    const present = packagesOf(path.join(folder, 'node_modules', '.package-lock.json'));
    return expected(folder, parts).every(
      ([place, { version, integrity }]) =>
        present[place]?.version === version &&
        present[place].integrity === integrity &&
        fs.existsSync(path.join(folder, place, 'package.json')),
    );
  } catch {
    return false;
  }
}

/** Counts tarballs as npm gets them, for the live line. */
function counter(total, note) {
  let fetched = 0;
  return (line) => {
    if (/^npm http .*\.tgz\b/.test(line)) note(`${Math.min(++fetched, total)} of ${total}`);
  };
}

/**
 * Onto packages that run the gateway, `npm install` adds the missing parts, so that one which runs keeps its files;
 * otherwise `npm ci` lays everything out anew.
 */
const npmCommand = (folder) =>
  laidOutFromLock(folder, []) ? ['install', '--no-save', '--prefer-offline'] : ['ci'];

async function layOut(folder, parts, { note, say, signal }) {
  for (const file of stampsOf(folder, EVERYTHING)) removeStamp(file);
  await npm('packages', [...npmCommand(folder), ...partArguments(parts)], {
    cwd: folder,
    signal,
    say,
    onLine: counter(expected(folder, parts).length, note),
  });
}

/** Lays out `folder`'s packages, with `parts` and those that it had. Throws SetupError. */
export async function installPackages(folder, context, wanted = EVERYTHING) {
  const key = packagesKey(folder);
  const differing = disagreements(folder).join(', ');
  if (differing)
    throw new SetupError(
      `packages: package-lock.json and package.json disagree on ${differing}; npm install settles it`,
    );
  const parts = [...new Set([...wanted, ...partsBefore(folder)])];
  if (!laidOutFromLock(folder, parts)) await layOut(folder, parts, context);
  trimPackages(path.join(folder, 'node_modules'));
  for (const file of stampsOf(folder, parts)) writeStamp(file, key);
}
