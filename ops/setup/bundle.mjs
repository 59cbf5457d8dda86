/**
 * `node bundle.mjs`: the product as Node loads it, in bundle/. Each process and thread has a file with all that it needs:
 * one in place of hundreds, because every module that Node loads costs it about a millisecond, and a start loads them in
 * several processes. The session SDK is for browsers: file by file, in client/dist, and as
 * scripts for pages (client/build.mjs); the gateway serves those of the widget.
 *
 * A process of its own, because the compiler would stay in the gateway's memory. Types are looked at by tsc (build.mjs).
 */
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { buildScripts } from '../../client/build.mjs';
import { inRoot, ROOT } from './paths.mjs';
import { sources } from './build.mjs';
import { REQUIRE } from './commonjs.mjs';
import { buildConsole } from './console-build.mjs';
import { patchPlugin } from './patches.mjs';
import { writeServed } from './served-files.mjs';

const WORKERS = fs.readdirSync(inRoot('gateway', 'workers')).map((name) => `gateway/workers/${name}`);
const GATEWAY_WORKER = 'gateway/workers/gateway.ts';
/** Children that speak, hear, or tell how something sounds. */
const SPEECH = ['sherpa', 'speech', 'turns', 'denoise'].map((name) => `gateway/workers/${name}.ts`);
const ALONE = WORKERS.filter((worker) => worker !== GATEWAY_WORKER && !SPEECH.includes(worker));

/**
 * Entry modules of processes and threads, in groups. A group is bundled by itself: files that all of them shared would be
 * many small ones. The supervisor and a worker of it are both gateways, which is by far the most code; what an operator runs is another,
 * and so are the children with engines.
 */
const GROUPS = [
  ['gateway/main.ts', GATEWAY_WORKER],
  ['gateway/commands/main.ts', 'gateway/doctor/main.ts'],
  SPEECH,
  ...ALONE.map((worker) => [worker]),
  ['engines/alignment/thread.ts'],
  ['engines/tokens/tokens-thread.ts'],
  ['engines/embeddings/exact-thread.ts'],
  ['engines/documents/documents-process.ts'],
];

/**
 * Packages that are JavaScript alone or, as node-av, have their binary in another package, with the packages that they need themselves.
 * All others stay where they are: they read their own files, have binaries, or are extras that need not be there. Of a CommonJS package
 * that is imported on demand the bundle has the default export alone.
 */
const BUNDLED = new Set([
  ...['@fastify/busboy', '@livekit/protocol', '@msgpack/msgpack', '@opentelemetry/api', 'alawmulaw'],
  ...[
    'eventsource-parser',
    'fluent-ffmpeg',
    'htmlparser2',
    'ipaddr.js',
    'livekit-server-sdk',
    'lru-cache',
    'n2words',
  ],
  ...['node-av', 'pino', 'postgres', 'prom-client', 'typebox', 'undici', 'ws', 'xstate'],
]);
/**
 * Asked by fluent-ffmpeg for its presets and its coverage, and by pino for threads of its own; we use none of them. No other package in the
 * bundle may need its folder.
 */
const DEFINED = { __dirname: '""', 'process.env.FLUENTFFMPEG_COV': 'undefined' };
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

const bundleGroup = (entryPoints) =>
  build({
    ...COMMON,
    absWorkingDir: ROOT,
    entryPoints,
    outbase: ROOT,
    outdir: inRoot('bundle'),
    // What the group shares, and what is loaded on demand.
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    sourcesContent: false,
    platform: 'node',
    target: 'node20',
    banner: { js: REQUIRE },
    define: DEFINED,
    plugins: [packages, patchPlugin],
  });

async function bundleGateway() {
  fs.rmSync(inRoot('bundle'), { recursive: true, force: true });
  await Promise.all(GROUPS.map(bundleGroup));
  copySwagger();
}

/**
 * Swagger UI as `/docs` serves it. Its package is not installed with the product: what that depends on reports each installation to a
 * server of others.
 */
const SWAGGER_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png', 'LICENSE', 'NOTICE'];

function copySwagger() {
  const folder = inRoot('bundle', 'swagger-ui');
  fs.mkdirSync(folder, { recursive: true });
  for (const name of SWAGGER_FILES)
    fs.copyFileSync(inRoot('node_modules', 'swagger-ui-dist', name), path.join(folder, name));
}

const transpileClient = () =>
  build({ ...COMMON, entryPoints: sources('client/src', /(?<!\.d)\.ts$/), outdir: inRoot('client', 'dist') });

const isOfWidget = ([name]) => name.startsWith('widget');

async function bundleWidget() {
  const scripts = await buildScripts();
  writeServed(inRoot('bundle', 'widget'), scripts.filter(isOfWidget));
}

try {
  await Promise.all([bundleGateway(), transpileClient(), bundleWidget(), buildConsole()]);
} catch (error) {
  // esbuild has said what it is.
  console.error(error.message);
  process.exitCode = 1;
}
