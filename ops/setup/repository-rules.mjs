/**
 * Rules about the checkout itself: the lock agrees with package.json and names no download host, and no tracked
 * file names a registry or a path of the machine that it was written on. Each returns lines of what is wrong.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inRoot, ROOT } from './paths.mjs';

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));

function lockProblems(folder) {
  const file = path.join(folder, 'package-lock.json');
  const name = path.relative(ROOT, file);
  const wanted = readJson(path.join(folder, 'package.json'));
  const { packages } = readJson(file);
  const differ = SECTIONS.flatMap((section) =>
    [...Object.keys({ ...wanted[section], ...packages[''][section] })]
      .filter((dependency) => wanted[section]?.[dependency] !== packages[''][section]?.[dependency])
      .map(
        (dependency) => `${name} does not agree with package.json on ${dependency}; npm ci will refuse it`,
      ),
  );
  const hosts = Object.keys(packages).filter((place) => /^https?:/.test(packages[place].resolved));
  return [...differ, ...hosts.map((place) => `${name} names a download host for ${place}`)];
}

/** The lock files, the gateway's and that of the acceptance tests. */
export const checkLocks = () =>
  [ROOT, inRoot('test', 'acceptance')]
    .filter((folder) => fs.existsSync(path.join(folder, 'package-lock.json')))
    .flatMap(lockProblems);

/** Places that say nothing about a machine, and stand in tests and texts for good reasons. */
const COMMON_FOLDERS = new Set(['/', '/tmp', '/var/tmp', '/home', '/root', '/opt', '/srv', '/usr/src']);

function namedHere() {
  const folders = [path.resolve(ROOT), path.dirname(path.resolve(ROOT)), os.homedir()];
  const registry = ['registry', 'npmjs'].join('.');
  return [registry, ...folders.filter((folder) => !COMMON_FOLDERS.has(folder)).map((folder) => `${folder}/`)];
}

/** Tracked and new files that name a registry or a path of this machine; nothing outside of a git checkout. */
export function checkAddresses() {
  const args = ['grep', '-nIF', '--untracked', ...namedHere().flatMap((name) => ['-e', name])];
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) return [];
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => `${line.slice(0, 160)}: names this machine or a registry`);
}
