/**
 * `node ops/image/architectures.mjs [--fetch]`: whether the image has what it needs as linux/amd64 and as linux/arm64. The lock names the
 * packages of each; binaries.json has what is in them, by the lock's integrity, so that this needs no network and no second machine.
 * `--fetch` looks into the tarballs of packages that are not in there as they are in the lock.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createGunzip } from 'node:zlib';
import { INTERFACES } from '../setup/bindings.mjs';
import { command } from '../setup/command.mjs';
import { SetupError } from '../setup/failure.mjs';
import { npm } from '../setup/npm.mjs';
import { inRoot } from '../setup/paths.mjs';
import { readTar } from '../setup/tar.mjs';
import { closure, keptPlaces } from './packages.mjs';

/** Node's name of each architecture, and its number in an ELF file. */
const ARCHITECTURES = { x64: 62, arm64: 183 };

/** What comes after "2." in the version of the image's C library: Debian 13 has 2.41. */
const GLIBC = 41;

/** Packages that make a layer of the image, and are not in it. */
const BUILDERS = ['esbuild'];

/** Of packages with binaries for several versions of Node: those that must be there. */
const WANTED = { 'uWebSockets.js': (cpu) => INTERFACES.map((number) => `uws_linux_${cpu}_${number}.node`) };

/** Packages that have no binary of an architecture, and how the gateway does without. */
const WITHOUT = { bufferutil: { arm64: 'ws masks and unmasks in JavaScript; only HTTP_STACK=node uses it' } };

const RECORD = inRoot('ops', 'image', 'binaries.json');
const BINARY = /\.(node|so|dylib|dll)(\.[\d.]+)?$/;

const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));

/** Whether an installed package has binaries. One that is not installed has none to show. */
function holdsBinaries(place) {
  const folder = inRoot(place);
  if (!fs.existsSync(folder)) return false;
  const names = fs.readdirSync(folder, { recursive: true });
  return names.some((name) => BINARY.test(name) && !name.includes('node_modules'));
}

const runsOn = ({ os: systems, cpu: cpus, libc }, cpu) =>
  cpus.includes(cpu) && (systems?.includes('linux') ?? true) && (libc?.includes('glibc') ?? true);

/** The architectures for which a package ought to have binaries; none if it is JavaScript alone. */
function architecturesOf(place, entry, isNative) {
  const all = Object.keys(ARCHITECTURES);
  if (entry.cpu) return all.filter((cpu) => runsOn(entry, cpu));
  return isNative(place) ? all : [];
}

/** Packages of the lock that have binaries which the image needs: `{ name, entry, cpus }`. */
function nativePackages({ packages }, record, holds) {
  const places = new Set([...keptPlaces({ packages }), ...closure(packages, BUILDERS)]);
  const nameOf = (place) => place.split('node_modules/').at(-1);
  const isNative = (place) => nameOf(place) in record || holds(place);
  return [...places]
    .sort()
    .map((place) => ({
      name: nameOf(place),
      entry: packages[place],
      cpus: architecturesOf(place, packages[place], isNative),
    }))
    .filter(({ cpus }) => cpus.length > 0);
}

/** Packages of one architecture that the lock has for the other alone. */
function missingPackages(found) {
  const names = new Set(found.map(({ name }) => name));
  return found
    .filter(({ entry }) => entry.cpu)
    .flatMap(({ name }) =>
      Object.keys(ARCHITECTURES).map((cpu) => [cpu, name.replace(/\b(x64|arm64)\b/, cpu)]),
    )
    .filter(([, wanted]) => !names.has(wanted))
    .map(([cpu, wanted]) => `linux/${cpu}: package-lock.json has no ${wanted}`);
}

function binaryProblems(name, cpu, binaries) {
  if (!binaries) return WITHOUT[name]?.[cpu] ? [] : [`linux/${cpu}: ${name} has no binary`];
  const lacking = (WANTED[name]?.(cpu) ?? []).filter((file) => !binaries.addons.includes(file));
  const isTooNew = Number(binaries.glibc.split('.')[1]) > GLIBC;
  return [
    ...lacking.map((file) => `linux/${cpu}: ${name} has no ${file}`),
    ...(isTooNew ? [`linux/${cpu}: ${name} wants glibc ${binaries.glibc}, the image has 2.${GLIBC}`] : []),
  ];
}

const isKnown = ({ name, entry }, record) => record[name]?.integrity === entry.integrity;

function problemsOf(found, record) {
  const { name, entry, cpus } = found;
  if (!isKnown(found, record))
    return [`${name} ${entry.version}: look into it: node ops/image/architectures.mjs --fetch`];
  return cpus.flatMap((cpu) => binaryProblems(name, cpu, record[name][cpu]));
}

/** Lines of what is wrong. `holds`: whether the package at a place has binaries, if the record does not know it. */
export function architectureProblems(lock, record, holds = holdsBinaries) {
  const found = nativePackages(lock, record, holds);
  return [...missingPackages(found), ...found.flatMap((each) => problemsOf(each, record))];
}

export const checkArchitectures = () =>
  architectureProblems(readJson(inRoot('package-lock.json')), readJson(RECORD));

/** The architecture of an ELF file; undefined for any other file. */
function cpuOf(bytes) {
  if (bytes.length < 20 || bytes.readUInt32BE(0) !== 0x7f454c46) return undefined;
  return Object.keys(ARCHITECTURES).find((cpu) => ARCHITECTURES[cpu] === bytes.readUInt16LE(18));
}

/** The newest C library that a file names; 0 if it names none. */
const glibcOf = (bytes) =>
  Math.max(0, ...[...bytes.toString('latin1').matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor)));

async function whole(chunks) {
  const all = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** What a tarball has for each architecture: how many binaries, the names of Node's addons, the C library they want. */
async function binariesIn(tarball) {
  const found = {};
  for await (const { name, data } of readTar(fs.createReadStream(tarball).pipe(createGunzip()))) {
    const bytes = await whole(data);
    const cpu = cpuOf(bytes);
    if (!cpu) continue;
    const { files, addons, glibc } = found[cpu] ?? { files: 0, addons: [], glibc: '2.0' };
    const minor = Math.max(Number(glibc.split('.')[1]), glibcOf(bytes));
    const addon = name.endsWith('.node') ? [path.basename(name)] : [];
    found[cpu] = { files: files + 1, addons: [...addons, ...addon].sort(), glibc: `2.${minor}` };
  }
  return found;
}

/** Fetches a package as npm does, and looks into it. */
async function lookInto({ name, entry }, folder) {
  const spec = `${entry.name ?? name}@${entry.version}`;
  const lines = await npm('architectures', ['pack', spec, '--pack-destination', folder]);
  const tarball = path.join(
    folder,
    lines.findLast((line) => line.endsWith('.tgz')),
  );
  const integrity = `sha512-${createHash('sha512').update(fs.readFileSync(tarball)).digest('base64')}`;
  if (integrity !== entry.integrity) throw new SetupError(`architectures: ${spec} is not what the lock has`);
  const binaries = await binariesIn(tarball);
  fs.rmSync(tarball);
  return { integrity, ...binaries };
}

/** Brings the record to what the lock has. */
async function fetchRecord(lock, record) {
  const found = nativePackages(lock, record, holdsBinaries);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'architectures-'));
  const fresh = {};
  try {
    for (const each of found) {
      if (!isKnown(each, record)) console.log(`architectures: ${each.name} ${each.entry.version}`);
      fresh[each.name] = isKnown(each, record) ? record[each.name] : await lookInto(each, folder);
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
  fs.writeFileSync(RECORD, `${JSON.stringify(fresh, null, 2)}\n`);
  return fresh;
}

/** A line for each package and architecture. */
function describe({ name, entry, cpus }, known) {
  for (const cpu of cpus) {
    const { files, glibc } = known[cpu] ?? {};
    const what = files ? `${files} binaries, glibc ${glibc}` : `none: ${WITHOUT[name]?.[cpu] ?? 'MISSING'}`;
    console.log(`linux/${cpu.padEnd(6)} ${`${name} ${entry.version}`.padEnd(54)} ${what}`);
  }
}

async function main() {
  const lock = readJson(inRoot('package-lock.json'));
  const recorded = fs.existsSync(RECORD) ? readJson(RECORD) : {};
  const record = process.argv.includes('--fetch') ? await fetchRecord(lock, recorded) : recorded;
  for (const each of nativePackages(lock, record, holdsBinaries)) describe(each, record[each.name] ?? {});
  const problems = architectureProblems(lock, record);
  if (problems.length > 0) throw new SetupError(`architectures:\n${problems.join('\n')}`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href)
  await command(main);
