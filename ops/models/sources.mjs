/**
 * The items of a source, brought to this disk: by HTTP, from PyPI (wheels.mjs), by npm's client, or from a place that the operator
 * names. What was brought is held against the catalogue's digest, or the pinned one.
 */
import fs from 'node:fs';
import path from 'node:path';
import { SetupError } from '../setup/failure.mjs';
import { npm } from '../setup/npm.mjs';
import { addressOf, fileNameOf, mostFetched } from './catalogue.mjs';
import { digestOf } from './digest.mjs';
import { download, forget, percentOf } from './download.mjs';
import { pinOf } from './pins.mjs';
import { downloadsDir } from './places.mjs';
import { fetchWheel } from './wheels.mjs';

const byHttp = (item, { note, came, signal, waitMs }) =>
  download({
    url: item.url,
    folder: downloadsDir(),
    most: mostFetched(item),
    note(have, total) {
      came?.(have);
      note(`${fileNameOf(item)} ${percentOf(have, total)}`);
    },
    signal,
    waitMs,
  });

/** The only file that a client has put into `folder`. */
function onlyFile(folder, what) {
  const [name] = fs.readdirSync(folder);
  if (name === undefined) throw new SetupError(`${what}: nothing was fetched`);
  return path.join(folder, name);
}

/** A package's archive, of which files are taken: nothing of it is installed or run. */
async function byNpm({ npm: name, version }, { folder, signal, say }) {
  fs.mkdirSync(folder, { recursive: true });
  const made = fs.mkdtempSync(path.join(folder, 'npm-'));
  const what = `${name}@${version}`;
  await npm(what, ['pack', what, '--pack-destination', made], { cwd: made, signal, say });
  return onlyFile(made, what);
}

function bring(item, context) {
  if (item.local) return item.local;
  if (item.npm) return byNpm(item, context);
  return item.pypi ? fetchWheel(item, context) : byHttp(item, context);
}

/** The origin of the expected digest, for messages. */
function expectedOf(item) {
  const { sha256 } = item;
  return sha256 ? { sha256, by: 'the catalogue' } : { sha256: pinOf(addressOf(item)), by: 'the first fetch' };
}

function mismatch(item, { sha256, by }, found) {
  return new SetupError(
    `${addressOf(item)} is not what ${by} says; nothing of it was kept\n  expected ${sha256}\n  found    ${found}\n` +
      '  --unchecked takes it all the same',
  );
}

/**
 * Brings one item: `{ item, file, sha256, isNew }`, the latter where nobody has told its digest before. Throws SetupError;
 * a file with another digest is thrown away.
 */
export async function fetchItem(item, context) {
  const file = await bring(item, context);
  const found = await digestOf(file);
  const expected = expectedOf(item);
  const fits = expected.sha256 === undefined || expected.sha256 === found;
  if (!fits && !context.unchecked) {
    if (item.url) forget(downloadsDir(), item.url);
    throw mismatch(item, expected, found);
  }
  return { item, file, sha256: found, isNew: expected.sha256 !== found };
}
