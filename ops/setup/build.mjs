/**
 * TypeScript to JavaScript, without looking at types, which `npm run check` does: what runs as the product to bundle/
 * (bundle.mjs), and everything file by file to dist/ (transpile.mjs), for tests and tools. Whether there is anything to do is
 * told from the names, sizes and times of the sources, a few milliseconds for the whole tree.
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
const GATEWAY = inRoot('tsconfig.json');
const CLIENT = inRoot('client', 'tsconfig.json');
const CONSOLE = inRoot('client', 'console', 'tsconfig.json');
/** The bench is a package of its own; the product does not need it. */
const BENCH = inRoot('bench', 'tsconfig.json');
const PRODUCT_CONFIGS = [GATEWAY, CLIENT, CONSOLE];
const TRANSPILED = [GATEWAY, BENCH];
const CONFIGS = [GATEWAY, CLIENT, CONSOLE, BENCH];

const BUNDLER = inRoot('ops', 'setup', 'bundle.mjs');
const COMMONJS = inRoot('ops', 'setup', 'commonjs.mjs');
const BUILDERS = [
  ...[BUNDLER, COMMONJS, inRoot('ops', 'setup', 'console-build.mjs')],
  ...[inRoot('ops', 'setup', 'served-files.mjs'), inRoot('client', 'build.mjs')],
];
const TRANSPILER = inRoot('ops', 'setup', 'transpile.mjs');
const TRANSPILERS = [TRANSPILER, COMMONJS];
const TSC = inRoot('node_modules', 'typescript', 'lib', 'tsc.js');
const UNREADABLE = 'a source cannot be read';

const SOURCE = /\.(ts|tsx|mts|cts|json|css|html)$/;

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

/** What both put into packages (patches.mjs). */
const patches = () => [inRoot('ops', 'setup', 'patches.mjs'), ...sources('ops/patches', /\.patch$/)];

const contents = (files) => files.map((file) => fs.readFileSync(file));
const buildKey = () => keyOf(...contents([...TRANSPILERS, ...patches()]), keyOfSources(CONFIGS, everything));
/** What the console has of the command `agents`. */
const agentFiles = () => [...sources('ops/agents', /\.mjs$/), inRoot('ops', 'agent-test', 'gateway.mjs')];

const productKey = () =>
  keyOf(...contents([...BUILDERS, ...agentFiles(), ...patches()]), keyOfSources(PRODUCT_CONFIGS, product));

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
  await compile(UNREADABLE, [BUNDLER], signal);
  writeStamp(PRODUCT_STAMP, key);
}

const isCode = (file) => /(?<!\.d)\.ts$/.test(file);

export async function build({ signal }) {
  const key = buildKey();
  removeStamp(STAMP);
  const transpile = (config) =>
    compile(UNREADABLE, [TRANSPILER, config, ...sourcesOf(config, everything).filter(isCode)], signal);
  // The session SDK comes with its types.
  await Promise.all([
    ...TRANSPILED.map(transpile),
    compile('TypeScript found errors', [TSC, '-p', CLIENT], signal),
  ]);
  writeStamp(STAMP, key);
}

/** The lines that tsc prints about types; none if all is well. */
export async function checkTypes() {
  const said = [];
  for (const config of CONFIGS) {
    const { code, output } = await runChild(process.execPath, [TSC, '-p', config, '--noEmit'], { cwd: ROOT });
    if (code !== 0) said.push(...output);
  }
  return said;
}

let building;

/** Builds where that is needed, once for all who ask. */
export const ensureBuilt = () => (building ??= buildReady() ? Promise.resolve() : build({}));
