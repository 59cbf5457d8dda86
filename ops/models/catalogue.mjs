/**
 * The models that can be added, as data: every `*.json` beside this file is a list of entries. An entry says what the
 * model is, and where it is had: sources in order of preference, each a list of items that make the model together.
 * What the fields mean is told in README.md.
 */
import fs from 'node:fs';
import { closest } from './closest.mjs';
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

const known = (catalogue) => catalogue.map(({ name }) => name);

/** The entry of that name. Throws SetupError, with the names that are close. */
export function entryOf(name, catalogue = CATALOGUE) {
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
