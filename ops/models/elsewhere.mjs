/**
 * `--from PLACE`: files that were downloaded by other means. A file or an address stands for the one item of a source; a folder,
 * or an address that ends with a slash, holds the items by their names. Digests are compared as ever.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { SetupError } from '../setup/failure.mjs';
import { fileNameOf } from './catalogue.mjs';

const isAddress = (place) => /^https?:\/\//.test(place);

/** How a file's name says that it is packed. */
const ENDINGS = [
  ['tar.bz2', /\.(tar\.bz2|tbz2)$/],
  ['tar.gz', /\.(tar\.gz|tgz)$/],
  ['zip', /\.(zip|whl)$/],
];

const kindOf = (place) => ENDINGS.find(([, ending]) => ending.test(place))?.[0];

const nameOf = (item) => (item.url || item.as ? fileNameOf(item) : undefined);

/** A folder's or an address's own file for each item. */
function withFolder(place, { sources }) {
  const has = (item) => {
    const name = nameOf(item);
    return name !== undefined && (isAddress(place) || fs.existsSync(path.join(place, name)));
  };
  const source = sources.find(({ items }) => items.every(has));
  if (!source) {
    const wanted = sources.map(({ items }) => items.map(nameOf).join(', ')).filter(Boolean);
    throw new SetupError(`${place} does not hold what the model is made of: ${wanted.join('; or ')}`);
  }
  const items = source.items.map((item) => ({
    ...item,
    place: isAddress(place) ? new URL(nameOf(item), place).href : path.join(place, nameOf(item)),
  }));
  return { ...source, items };
}

function withFile(place, { name, sources }) {
  const kind = kindOf(isAddress(place) ? new URL(place).pathname : place);
  const fits = sources.filter(({ items }) => items.length === 1 && items[0].unpack === kind);
  if (fits.length === 0)
    throw new SetupError(`${name} is not made of one ${kind ?? 'plain'} file; name a folder`);
  const same = fits.find(({ items: [item] }) => nameOf(item) === path.basename(place)) ?? fits[0];
  return { ...same, items: [{ ...same.items[0], place }] };
}

/** The item with its place for an address: the digest and the pin stay those of the item. */
function relocated({ place, ...item }) {
  if (isAddress(place))
    return { ...item, pypi: undefined, npm: undefined, url: place, as: item.as ?? nameOf(item) };
  return { ...item, local: path.resolve(place), url: item.url ?? pathToFileURL(place).href };
}

/** A source of the entry whose items lie at `place`. Throws SetupError. */
export function sourceAt(place, entry) {
  if (!isAddress(place) && !fs.existsSync(place)) throw new SetupError(`there is no ${place}`);
  const isFolder = isAddress(place) ? place.endsWith('/') : fs.statSync(place).isDirectory();
  const source = isFolder ? withFolder(place, entry) : withFile(place, entry);
  return { ...source, items: source.items.map(relocated) };
}
