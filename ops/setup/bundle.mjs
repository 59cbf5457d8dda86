/**
 * `node bundle.mjs`: the product as Node loads it, in bundle/. Each process and thread has a file, and shares others with
 * the rest: a few files in place of hundreds, because every module that Node loads costs it about a millisecond, and a
 * start loads them in several processes. The session SDK is for browsers: file by file, in client/dist.
 *
 * A process of its own, because the compiler would stay in the gateway's memory. Types are looked at by tsc (build.mjs).
 */
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { inRoot, ROOT } from './paths.mjs';
import { sources } from './build.mjs';
import { REQUIRE } from './commonjs.mjs';
import { buildConsole } from './console-build.mjs';

/** Entry modules of processes and threads. */
const ENTRIES = [
  'gateway/main.ts',
  'gateway/commands/main.ts',
  ...fs.readdirSync(inRoot('gateway', 'workers')).map((name) => `gateway/workers/${name}`),
  'engines/alignment/thread.ts',
  'engines/tokens/tokens-thread.ts',
];

/**
 * Packages of JavaScript alone, with the packages that they need themselves. All others stay where they are: they read their own
 * files, have binaries, or are extras that need not be there.
 */
const BUNDLED = new Set([
  ...['@fastify/busboy', '@livekit/protocol', '@msgpack/msgpack', '@opentelemetry/api', 'alawmulaw'],
  ...['eventsource-parser', 'ipaddr.js', 'livekit-server-sdk', 'lru-cache', 'n2words'],
  ...['pino', 'prom-client', 'typebox', 'ws', 'xstate'],
]);
/** Binaries that a package in the bundle would use if they were there. */
const BINARIES = new Set(['bufferutil', 'utf-8-validate']);

const packageOf = (name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/');
const isBundled = (name, importer) =>
  BUNDLED.has(name) || (importer.includes(`${path.sep}node_modules${path.sep}`) && !BINARIES.has(name));

const packages = {
  name: 'packages',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path: name, importer, kind }) =>
      kind === 'entry-point' || isBundled(packageOf(name), importer)
        ? undefined
        : { path: name, external: true },
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
    banner: { js: REQUIRE },
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
