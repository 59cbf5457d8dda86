/**
 * `node bundle.mjs`: the product as Node loads it, in bundle/. Each process and thread has a file, and shares others with
 * the rest: a few files in place of hundreds, because every module that Node loads costs it about a millisecond, and a
 * start loads them in several processes. The session SDK is for browsers: file by file, in client/dist.
 *
 * A process of its own, because the compiler would stay in the gateway's memory. Types are looked at by tsc (build.mjs).
 */
import fs from 'node:fs';
import { build } from 'esbuild';
import { inRoot, ROOT } from './paths.mjs';
import { sources } from './build.mjs';
import { buildConsole } from './console-build.mjs';

/** What a process or a thread begins with. */
const ENTRIES = [
  'gateway/main.ts',
  'gateway/commands/main.ts',
  ...fs.readdirSync(inRoot('gateway', 'workers')).map((name) => `gateway/workers/${name}`),
  'engines/alignment/thread.ts',
  'engines/tokens-thread.ts',
];

/** Packages of many small modules. All others stay where they are: some read their own files, or have binaries. */
const BUNDLED = new Set(['@msgpack/msgpack', 'eventsource-parser', 'lru-cache', 'typebox', 'xstate']);

const packageOf = (name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/');

const packages = {
  name: 'packages',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || BUNDLED.has(packageOf(path)) ? undefined : { path, external: true },
    ),
};

const COMMON = { format: 'esm', sourcemap: 'linked', logLevel: 'error' };

async function bundleGateway() {
  fs.rmSync(inRoot('bundle'), { recursive: true, force: true });
  await build({
    ...COMMON,
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outbase: ROOT,
    outdir: inRoot('bundle'),
    // Below bundle/ as contracts/ is below dist/ (contracts/places.ts).
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    sourcesContent: false,
    platform: 'node',
    target: 'node20',
    plugins: [packages],
  });
}

const transpileClient = () =>
  build({ ...COMMON, entryPoints: sources('client/src', /(?<!\.d)\.ts$/), outdir: inRoot('client', 'dist') });

try {
  await Promise.all([bundleGateway(), transpileClient(), buildConsole()]);
} catch (error) {
  // esbuild has said what it is.
  console.error(error.message);
  process.exitCode = 1;
}
