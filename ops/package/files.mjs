/** The files of the package that people install: what was built, what it reads, and the programs of set-up and of the commands. */
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { inRoot, ROOT } from '../setup/paths.mjs';

/** Folders that are taken whole, and single files. */
const TAKEN = [
  'bundle',
  'client/console/dist',
  'codecs/decode/limited.sh',
  'ops/commands/speech-gateway',
  'ops/deploy/health.mjs',
  'ops/deploy/speech-gateway.service',
  'ops/setup/help.txt',
  'ops/setup/models.json',
  'storage/migrations',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'THIRD-PARTY.md',
];

/** Which bundle it is, for a checkout. */
const LEFT_OUT = new Set(['bundle/.setup']);

/** Data beside the programs that read them. */
const catalogue = () =>
  fs
    .readdirSync(inRoot('ops', 'models'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => `ops/models/${name}`);

const ENTRY = 'ops/commands/run.mjs';

/** The program of the commands with all that it imports, as esbuild finds it. */
async function programs() {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'unused',
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  return Object.keys(metafile.inputs);
}

/** The files below `place`, or `place` itself. */
function filesAt(place) {
  if (!fs.statSync(inRoot(place)).isDirectory()) return [place];
  const entries = fs.readdirSync(inRoot(place), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath ?? entry.path, entry.name)));
}

/** Their places in the checkout, sorted; they have the same ones in the package. */
export async function packageFiles() {
  const places = [...TAKEN.flatMap(filesAt), ...catalogue(), ...(await programs())];
  return [...new Set(places)].filter((place) => !LEFT_OUT.has(place)).sort();
}
