/**
 * A model of the catalogue put in place: fetched, unpacked into a temporary folder, held against what its entry promises,
 * and renamed. So a model is in place whole or not at all. What was fetched is removed once it is; the part of a fetch
 * that broke off is kept to go on from.
 */
import fs from 'node:fs';
import path from 'node:path';
import { onInterrupt } from '../setup/children.mjs';
import { SetupError } from '../setup/failure.mjs';
import { checkSpace } from '../setup/space.mjs';
import { addressOf, fetchedBytes, fileNameOf } from './catalogue.mjs';
import { forget } from './download.mjs';
import { heldModels } from './holds.mjs';
import { folderOf, makeFiles } from './making.mjs';
import { pin } from './pins.mjs';
import {
  catalogueDir,
  downloadsDir,
  isLeaving,
  leavingModels,
  manifestOf,
  markRemoved,
  modelDir,
  preparedDirs,
  sweep,
  temporaryDir,
  writeManifest,
} from './places.mjs';
import { fetchItem } from './sources.mjs';
import { matches, unpack, writeHashed } from './unpack.mjs';

/** Most files of a model; eSpeak's data alone are 360. */
const MOST_FILES = 5_000;
/** How many times the size in its entry a model may take on the disk. */
const TOLERANCE = 1.5;
/** How many times its size an archive may unpack to, beyond what is taken of it: weights hardly shrink, texts do. */
const MOST_SHRUNK = 4;

/** Bytes that a model may have on the disk. */
const mostBytes = ({ bytes }) => Math.ceil(bytes * TOLERANCE);

const megabytes = (bytes) => Math.ceil(bytes / 1e6);

function checkRoom(entry, source, system) {
  const parts = source.makes ? entry.bytes : 0;
  const wanted = fetchedBytes(source) + parts + entry.bytes;
  checkSpace([{ folder: catalogueDir(), megabytes: megabytes(wanted) }], system);
}

/** Fills in this machine's platform, for archives with files for several. */
const forHere = (root) => root?.replace('{platform}', process.platform).replace('{arch}', process.arch);

/** One fetched item as files of the model. */
async function layOut({ item, file }, folder, limits, note) {
  if (item.unpack) {
    const read = limits.bytes + MOST_SHRUNK * item.bytes;
    return unpack(file, folder, { ...item, root: forHere(item.root) }, { ...limits, read }, (text) =>
      note(`unpacking, ${text}`),
    );
  }
  return [await writeHashed(fs.createReadStream(file), folder, fileNameOf(item), limits.bytes)];
}

async function layOutAll(fetched, folder, entry, { note, mostFiles = MOST_FILES }) {
  const files = [];
  let left = mostBytes(entry);
  for (const one of fetched) {
    const limits = { files: mostFiles - files.length, bytes: left };
    const below = folderOf(one.item);
    const added = await layOut(one, path.join(folder, below), limits, note);
    left -= added.reduce((total, { bytes }) => total + bytes, 0);
    files.push(...added.map((file) => ({ ...file, path: path.posix.join(below, file.path) })));
  }
  return files;
}

function checkPromise({ name, needs }, files) {
  const missing = needs.filter((glob) => !files.some(({ path: file }) => matches(file, [glob])));
  if (missing.length > 0)
    throw new SetupError(`what came for ${name} does not hold ${missing.join(', ')}; nothing of it was kept`);
}

/** Digests that the catalogue did not know, by address. */
const newDigests = (fetched) =>
  Object.fromEntries(
    fetched.filter(({ isNew }) => isNew).map(({ item, sha256 }) => [addressOf(item), sha256]),
  );

function putInPlace(folder, name) {
  fs.chmodSync(folder, 0o755);
  fs.renameSync(folder, modelDir(name));
  for (const parent of [modelDir(name), catalogueDir()]) {
    const handle = fs.openSync(parent, 'r');
    fs.fsyncSync(handle);
    fs.closeSync(handle);
  }
}

async function make(entry, source, folder, context) {
  const fetched = [];
  const clients = path.join(folder, '.clients');
  let bytes = 0;
  for (const item of source.items) {
    const came = (have) => context.came?.(bytes + have);
    fetched.push(await fetchItem(item, { ...context, came, folder: clients }));
    bytes += item.bytes;
  }
  const laidOut = await layOutAll(fetched, folder, entry, context);
  const files = await makeFiles(source, folder, laidOut, mostBytes(entry));
  checkPromise(entry, files);
  fs.rmSync(clients, { recursive: true, force: true });
  const downloads = fetched.map(({ item, sha256 }) => ({ from: addressOf(item), sha256 }));
  const added = new Date().toISOString();
  const { name, task, languages } = entry;
  writeManifest(folder, { name, task, languages, added, downloads, files });
  const digests = newDigests(fetched);
  if (Object.keys(digests).length > 0) pin(digests);
  putInPlace(folder, name);
  for (const { item } of fetched) if (item.url) forget(downloadsDir(), item.url);
  return Object.keys(digests);
}

async function fromSource(entry, source, context) {
  checkRoom(entry, source, context.system);
  const folder = temporaryDir();
  const clear = () => fs.rmSync(folder, { recursive: true, force: true });
  const withdraw = onInterrupt(clear);
  try {
    return await make(entry, source, folder, context);
  } finally {
    withdraw();
    clear();
  }
}

/**
 * Adds a model from the first of the sources that gives it. Returns the addresses whose digests were pinned just now.
 * `context` has `note` and `say` for whoever watches, `unchecked`, `signal`, `mostFiles`. Throws SetupError with what each source said.
 */
export async function install(entry, sources, context) {
  fs.mkdirSync(catalogueDir(), { recursive: true });
  sweep();
  sweepRemoved();
  if (isLeaving(entry.name))
    throw new SetupError(
      `a running gateway still lets go of ${entry.name}, which was removed; try again in a minute`,
    );
  const failures = [];
  for (const source of sources) {
    try {
      return await fromSource(entry, source, context);
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      failures.push(error.message);
      if (failures.length < sources.length) context.say(`${error.message}\n  trying another source`);
    }
  }
  throw new SetupError(failures.join('\n'));
}

function removeFiles(name) {
  const folder = temporaryDir();
  for (const made of [modelDir(name), ...preparedDirs(name)])
    fs.renameSync(made, path.join(folder, path.basename(made)));
  fs.rmSync(folder, { recursive: true });
}

/** Removes the files of models that were removed and that nobody reads any more. Only the holder of the lock may. */
export function sweepRemoved() {
  const held = heldModels();
  for (const name of leavingModels()) if (!held.has(name)) removeFiles(name);
}

/** Removes a model. False where it was not in place. Its files stay while a running gateway holds it. */
export function uninstall({ name, sources }) {
  for (const { items } of sources) for (const { url } of items) if (url) forget(downloadsDir(), url);
  if (!manifestOf(name)) return false;
  markRemoved(name);
  sweepRemoved();
  return true;
}
