/**
 * TypeScript to dist/, and the session SDK to client/dist/. Whether there is anything to do is told from the names, sizes and times of the sources,
 * a few milliseconds for the whole tree; tsc itself then works incrementally. Errors of types fail the build.
 */
import fs from 'node:fs';
import path from 'node:path';
import { runChild } from './children.mjs';
import { SetupError } from './failure.mjs';
import { packagesKey } from './packages.mjs';
import { inRoot, ROOT } from './paths.mjs';
import { hasStamp, keyOf, removeStamp, writeStamp } from './stamps.mjs';

const STAMP = inRoot('dist', '.setup');
const CONFIGS = [inRoot('tsconfig.json'), inRoot('client', 'tsconfig.json')];
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

function buildKey() {
  const configs = CONFIGS.map((file) => [
    path.relative(ROOT, path.dirname(file)),
    fs.readFileSync(file, 'utf8'),
  ]);
  const files = configs.flatMap(([below, config]) =>
    JSON.parse(config).include.flatMap((folder) => sources(path.join(below, folder))),
  );
  const states = files.map((file) => {
    const { size, mtimeMs } = fs.statSync(file);
    return `${path.relative(ROOT, file)} ${size} ${mtimeMs}`;
  });
  return keyOf(...configs.map(([, config]) => config), packagesKey(ROOT), ...states);
}

export const buildReady = () => hasStamp(STAMP, buildKey());

export async function build({ signal }) {
  const key = buildKey();
  removeStamp(STAMP);
  const tsc = inRoot('node_modules', 'typescript', 'lib', 'tsc.js');
  for (const config of CONFIGS) {
    const { code, output } = await runChild(process.execPath, [tsc, '-p', config], { cwd: ROOT, signal });
    if (code !== 0) throw new SetupError(`build: TypeScript found errors\n${output.join('\n')}`);
  }
  writeStamp(STAMP, key);
}
