/**
 * `node build.mjs`: the scripts for pages without a bundler, in dist/browser/. The gateway serves the two of the widget as
 * well (ops/setup/bundle.mjs). Types, and the modules for bundlers, are tsc's.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const OUT = path.join(HERE, 'dist', 'browser');

/** What only a call needs, LiveKit's client above all: a script of its own, which the widget loads when somebody calls. */
const CALL = 'widget-call.js';

const callApart = {
  name: 'call-apart',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/browser\.js$/ }, () => ({
      path: path.join(HERE, 'src', 'widget', 'call-script.ts'),
    })),
};

/** Each script, and how it is made. Two of them hold LiveKit's client (Apache-2.0). */
const SCRIPTS = {
  'widget.js': { entry: 'src/widget/script.ts', format: 'iife', plugins: [callApart] },
  [CALL]: { entry: 'src/browser.ts', format: 'esm' },
  'speech-gateway-client.js': { entry: 'src/index.ts', format: 'iife', globalName: 'SpeechGateway' },
};

async function scriptOf([name, { entry, ...how }]) {
  const { outputFiles } = await build({
    absWorkingDir: HERE,
    entryPoints: [entry],
    outfile: path.join(OUT, name),
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    target: 'es2022',
    logLevel: 'error',
    ...how,
  });
  return [name, outputFiles[0].contents];
}

/** Writes the scripts. Resolves with them: names and contents. */
export async function buildScripts() {
  const files = await Promise.all(Object.entries(SCRIPTS).map(scriptOf));
  fs.mkdirSync(OUT, { recursive: true });
  for (const [name, content] of files) fs.writeFileSync(path.join(OUT, name), content);
  return files;
}

const isProgram = process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) await buildScripts();
