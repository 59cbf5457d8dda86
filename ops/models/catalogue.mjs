/**
 * The models that can be added, as data: every `*.json` beside this file is a list of entries. An entry says what the
 * model is, and where it is had: sources in order of preference, each a list of items that make the model together.
 * What the fields mean is told in README.md.
 */
import fs from 'node:fs';
import { closest } from './closest.mjs';
import { canMake } from './making.mjs';
import { SetupError } from '../setup/failure.mjs';
import { commandLine } from '../commands/words.mjs';

const FOLDER = new URL('./', import.meta.url);

const readEntries = (name) => JSON.parse(fs.readFileSync(new URL(name, FOLDER), 'utf8'));

/** The tasks of models. */
const TASKS = ['pico', 'tts', 'stt', 'turns', 'denoise'];

/** All entries, those that speak first. */
export const CATALOGUE = fs
  .readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .flatMap(readEntries)
  .sort((one, other) => TASKS.indexOf(one.task) - TASKS.indexOf(other.task));

const NAME = /^[a-z0-9][a-z0-9._-]*$/i;

const isEntry = ({ name, task, sources, needs, bytes }) =>
  NAME.test(name) &&
  TASKS.includes(task) &&
  bytes > 0 &&
  Array.isArray(needs) &&
  Array.isArray(sources) &&
  sources.every((source) => Array.isArray(source.items) && canMake(source));

/** Entries of the operator's own. Throws SetupError that names the setting. */
function ownEntries(file = process.env.MODELS_CATALOGUE) {
  if (!file) return [];
  try {
    const entries = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (Array.isArray(entries) && entries.every(isEntry)) return entries;
  } catch (error) {
    throw new SetupError(`MODELS_CATALOGUE: ${file} cannot be read: ${error.message}`, { cause: error });
  }
  throw new SetupError(`MODELS_CATALOGUE: ${file} is no list of entries as ops/models/README.md has them`);
}

/** All entries, and those of MODELS_CATALOGUE, which go before ours of the same name. Throws SetupError. */
export function allEntries() {
  const own = ownEntries();
  const names = own.map(({ name }) => name);
  return [...own, ...CATALOGUE.filter(({ name }) => !names.includes(name))];
}

const known = (catalogue) => catalogue.map(({ name }) => name);

/** The entry of that name. Throws SetupError, with the names that are close. */
export function entryOf(name, catalogue = allEntries()) {
  const entry = catalogue.find((one) => one.name === name);
  if (entry) return entry;
  const meant = closest(name, known(catalogue));
  const hint =
    meant.length > 0 ? `; did you mean ${meant.join(' or ')}?` : `; ${commandLine('models')} lists them`;
  throw new SetupError(`there is no model ${name}${hint}`);
}

/** The file that an item is, by its address. */
export const fileNameOf = ({ as, url = '' }) =>
  as ?? decodeURIComponent(new URL(url).pathname.split('/').at(-1));

/** The name of an item in messages and among the pins. */
export const addressOf = ({ url, pypi, npm, version }) =>
  url ?? (pypi ? `pypi:${pypi}==${version}` : `npm:${npm}@${version}`);

/** The most bytes that are taken of an item: sizes in the catalogue are approximate. */
export const mostFetched = ({ bytes }) => Math.ceil(bytes * 1.25) + 1_000_000;

const add = (total, { bytes }) => total + bytes;

/** Bytes that a source fetches, about. */
export const fetchedBytes = ({ items }) => items.reduce(add, 0);
