/**
 * TypeScript to JavaScript: everything with tsc to dist/, whose errors fail the build, for tests and tools; and what runs
 * as the product to bundle/ (bundle.mjs), without looking at types. Whether there is anything to do is told from the names,
 * sizes and times of the sources, a few milliseconds for the whole tree; tsc itself then works incrementally.
 */
import fs from 'node:fs';
import path from 'node:path';
import { runChild } from './children.mjs';
import { SetupError } from './failure.mjs';
import { packagesKey } from './packages.mjs';
import { inRoot, ROOT } from './paths.mjs';
import { hasStamp, keyOf, removeStamp, writeStamp } from './stamps.mjs';

const STAMP = inRoot('dist', '.setup');
const PRODUCT_STAMP = inRoot('bundle', '.setup');
const PRODUCT_CONFIGS = [inRoot('tsconfig.json'), inRoot('client', 'tsconfig.json')];
/** The bench is a package of its own, which nothing of the product needs. */
const CONFIGS = [...PRODUCT_CONFIGS, inRoot('bench', 'tsconfig.json')];
const BUNDLER = inRoot('ops', 'setup', 'bundle.mjs');
const SOURCE = /\.(ts|tsx|mts|cts|json)$/;

function filesBelow(folder) {
  const entries = fs.existsSync(folder) ? fs.readdirSync(folder, { withFileTypes: true }) : [];
  return entries.flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(file);
    return [file];
  });
}

/** The sources below a folder of the checkout whose names match, in a stable order. */
export const sources = (folder, pattern = SOURCE) =>
  filesBelow(inRoot(folder))
    .filter((file) => pattern.test(file))
    .sort();

/** Nothing that runs is in them. */
const NOT_PRODUCT = new Set(['test']);

const everything = () => true;
const product = (folder) => !NOT_PRODUCT.has(folder);

/** The sources of a tsconfig, in the folders that `wanted` says. */
function sourcesOf(config, wanted) {
  const below = path.relative(ROOT, path.dirname(config));
  const { include } = JSON.parse(fs.readFileSync(config, 'utf8'));
  return include.filter(wanted).flatMap((folder) => sources(path.join(below, folder)));
}

function keyOfSources(configs, wanted) {
  const states = configs
    .flatMap((config) => sourcesOf(config, wanted))
    .map((file) => {
      const { size, mtimeMs } = fs.statSync(file);
      return `${path.relative(ROOT, file)} ${size} ${mtimeMs}`;
    });
  return keyOf(...configs.map((config) => fs.readFileSync(config, 'utf8')), packagesKey(ROOT), ...states);
}

const buildKey = () => keyOfSources(CONFIGS, everything);
const productKey = () => keyOf(fs.readFileSync(BUNDLER), keyOfSources(PRODUCT_CONFIGS, product));

export const buildReady = () => hasStamp(STAMP, buildKey());

export const productReady = () => hasStamp(PRODUCT_STAMP, productKey());

async function compile(what, args, signal) {
  const { code, output } = await runChild(process.execPath, args, { cwd: ROOT, signal });
  if (code !== 0) throw new SetupError(`build: ${what}\n${output.join('\n')}`);
}

/** Builds what runs as the product. */
export async function buildProduct({ signal }) {
  const key = productKey();
  removeStamp(PRODUCT_STAMP);
  await compile('a source cannot be read', [BUNDLER], signal);
  writeStamp(PRODUCT_STAMP, key);
}

export async function build({ signal }) {
  const key = buildKey();
  removeStamp(STAMP);
  const tsc = inRoot('node_modules', 'typescript', 'lib', 'tsc.js');
  for (const config of CONFIGS) await compile('TypeScript found errors', [tsc, '-p', config], signal);
  writeStamp(STAMP, key);
}

let building;

/** Builds where that is needed, once for all who ask. */
export const ensureBuilt = () => (building ??= buildReady() ? Promise.resolve() : build({}));
