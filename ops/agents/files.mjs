/** A workspace as files: a folder for each noun, a YAML file for each item. What a file is about says its content, not its name. */
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { NoVerdict } from '../agent-test/gateway.mjs';
import { NOUNS } from './nouns.mjs';
import { keyOf } from './remote.mjs';
import { freePlace, textOf } from './texts.mjs';

/** The largest knowledge source has 1 MB. */
const MOST_BYTES = 4_000_000;
const ENDING = /\.ya?ml$/;

const filesIn = (folder) =>
  fs.existsSync(folder)
    ? fs
        .readdirSync(folder, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile() && ENDING.test(entry.name))
        .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
        .sort()
    : [];

function readFile(file) {
  if (fs.statSync(file).size > MOST_BYTES) throw new NoVerdict(`${file} is larger than ${MOST_BYTES} bytes`);
  try {
    return parse(fs.readFileSync(file, 'utf8'), { maxAliasCount: 100 });
  } catch (error) {
    throw new NoVerdict(`${file}: ${error.message}`);
  }
}

function itemOf(noun, file) {
  const value = readFile(file);
  const wanted = ['name', ...(NOUNS[noun].owner ? ['agent'] : [])];
  for (const field of wanted)
    if (typeof value?.[field] !== 'string' || value[field] === '')
      throw new NoVerdict(`${file}: ${field} is missing`);
  if (!NOUNS[noun].owner) return { noun, name: value.name, value, file };
  const { agent, ...own } = value;
  return { noun, name: value.name, agent, value: own, file };
}

/** The items of a folder by their keys. Throws NoVerdict for a file that is none, and for two about the same. */
export function readFolder(folder) {
  const items = new Map();
  for (const noun of Object.keys(NOUNS))
    for (const file of filesIn(path.join(folder, noun))) {
      const item = itemOf(noun, file);
      const other = items.get(keyOf(item));
      if (other) throw new NoVerdict(`${other.file} and ${file} are both about ${keyOf(item)}`);
      items.set(keyOf(item), item);
    }
  return items;
}

/** Writes the items, each into the file that it has; removes files of others. Returns what was done, in lines. */
export function writeFolder(folder, items, { keepOthers }) {
  const before = readFolder(folder);
  const taken = new Set([...before.values()].map(({ file }) => file));
  const lines = [];
  for (const [key, item] of items) {
    const file =
      before.get(key)?.file ??
      path.join(
        folder,
        freePlace(item, (place) => taken.has(path.join(folder, place))),
      );
    taken.add(file);
    const text = textOf(item);
    if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) continue;
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
    lines.push(`wrote ${file}`);
  }
  for (const [key, { file }] of before)
    if (!keepOthers && !items.has(key)) {
      fs.rmSync(file);
      lines.push(`removed ${file}`);
    }
  return lines;
}
