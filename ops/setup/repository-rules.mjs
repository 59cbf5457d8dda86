/**
 * Rules about the checkout itself: the lock agrees with package.json and names no download host, and no tracked
 * file names a registry, a path of the machine that it was written on, or has marks of a merge. Each returns lines of what is wrong.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { disagreements } from './packages.mjs';
import { inRoot, ROOT } from './paths.mjs';

/**
 * Optional packages that others of the lock name, and it has not: npm leaves out without a word what its registry does
 * not have, and `npm ci` then fails everywhere. A package in another one's own folder counts as well.
 */
export function missingOptional(packages) {
  const names = new Set(Object.keys(packages).map((place) => place.split('node_modules/').at(-1)));
  return Object.values(packages)
    .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
    .filter((name) => !names.has(name));
}

function lockProblems(folder) {
  const file = path.join(folder, 'package-lock.json');
  const name = path.relative(ROOT, file);
  const { packages } = JSON.parse(fs.readFileSync(file, 'utf8'));
  const hosts = Object.keys(packages).filter((place) => /^https?:/.test(packages[place].resolved));
  return [
    ...disagreements(folder).map((dependency) => `${name} and package.json disagree on ${dependency}`),
    ...missingOptional(packages).map((missing) => `${name} has no ${missing}, which another package names`),
    ...hosts.map((place) => `${name} names a download host for ${place}`),
  ];
}

/** The lock files: the gateway's, and those of the packages beside it. */
export const checkLocks = () =>
  [
    ...[ROOT, inRoot('bench'), inRoot('bench', 'peers', 'portkey'), inRoot('bench', 'peers', 'agents-js')],
    inRoot('bench', 'recorded'),
    ...[inRoot('test', 'acceptance'), inRoot('ops', 'mutation'), inRoot('ops', 'site')],
    inRoot('client'),
  ]
    .filter((folder) => fs.existsSync(path.join(folder, 'package-lock.json')))
    .flatMap(lockProblems);

/** Places that say nothing about a machine, and stand in tests and texts for good reasons. */
const COMMON_FOLDERS = new Set(['/', '/tmp', '/var/tmp', '/home', '/root', '/opt', '/srv', '/usr/src']);

function namedHere() {
  const folders = [path.resolve(ROOT), path.dirname(path.resolve(ROOT)), os.homedir()];
  const registry = ['registry', 'npmjs'].join('.');
  return [registry, ...folders.filter((folder) => !COMMON_FOLDERS.has(folder)).map((folder) => `${folder}/`)];
}

/** The lines of tracked and new files that `git grep` finds; none outside of a git checkout. */
function foundLines(...args) {
  const { status, stdout } = spawnSync('git', ['grep', '-nI', '--untracked', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trimEnd().split('\n') : [];
}

/** Files that name a registry or a path of this machine. */
export const checkAddresses = () =>
  foundLines('-F', ...namedHere().flatMap((name) => ['-e', name])).map(
    (line) => `${line.slice(0, 160)}: names this machine or a registry`,
  );

/** What a merge that was not resolved leaves behind. */
export const checkMerges = () =>
  foundLines('-E', '-e', '^(<{7}|>{7}) ').map((line) => `${line.slice(0, 160)}: an unresolved merge`);
