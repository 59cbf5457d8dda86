/**
 * `node transpile.mjs CONFIG FILE…`: TypeScript to JavaScript file by file, to where the tsconfig says, without looking at
 * types: what tests and tools load, a second for all of it. A process of its own, because the compiler would stay in
 * memory. Types are a row of `npm run check`.
 *
 * Beside the files lies tap as one file, which Node finds before the package: 350 modules are half a second for each of some
 * hundreds of test files. It records no coverage (plain-processes.mjs), follows no promises (plain-domains.mjs), matches no
 * parts (exact-match.mjs), and is compiled already (tap-loader.mjs).
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { inRoot } from './paths.mjs';
import { keyOf } from './stamps.mjs';
import { TEST_FLAGS } from './test-flags.mjs';

const [, , configFile, ...files] = process.argv;
const { rootDir, outDir } = JSON.parse(fs.readFileSync(configFile, 'utf8')).compilerOptions;
const folder = path.dirname(configFile);
const outdir = path.resolve(folder, outDir);
const COMMON = { platform: 'node', target: 'node20', logLevel: 'error' };

const transpile = () =>
  build({
    ...COMMON,
    format: 'esm',
    entryPoints: files,
    outbase: path.resolve(folder, rootDir),
    outdir,
    sourcemap: 'linked',
    sourcesContent: false,
  });

const readJson = (file) => (fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {});

/** Packages of tap's that cost much and do little for us, or let pass too much. */
const REPLACED = {
  '@tapjs/processinfo': inRoot('ops', 'setup', 'plain-processes.mjs'),
  'async-hook-domain': inRoot('ops', 'setup', 'plain-domains.mjs'),
  tcompare: inRoot('ops', 'setup', 'exact-match.mjs'),
};
const LOADER = inRoot('ops', 'setup', 'tap-loader.mjs');
const ADDRESS = '__address';

/** Compiles the parts of tap that most test files need, in one process. If that fails, each test file compiles them itself. */
function compileTap(loader) {
  const script = `import t, { keepCompiled } from ${JSON.stringify(loader)};
    process.once('exit', keepCompiled);
    t.test('one', async (t) => {
      t.strictSame({ one: [1] }, { one: [1] });
      t.match({ one: 'two' }, { one: /two/ });
      await t.rejects(Promise.reject(new Error('one')), /one/);
    });`;
  spawnSync(process.execPath, [...TEST_FLAGS, '--input-type=module', '--eval', script], { stdio: 'ignore' });
}

async function bundleTap() {
  const { version: own } = readJson(inRoot('node_modules', 'tap', 'package.json'));
  const version = `${own}+${keyOf(...[LOADER, ...Object.values(REPLACED)].map((file) => fs.readFileSync(file)))}+${process.version}+${TEST_FLAGS.join('')}`;
  const modules = path.join(outdir, 'node_modules');
  const description = path.join(modules, 'tap', 'package.json');
  if (readJson(description).version === version) return;
  // Stack traces leave out files in a folder of this name.
  const bundle = path.join(modules, '@tapjs');
  fs.rmSync(bundle, { recursive: true, force: true });
  await build({
    ...COMMON,
    format: 'cjs',
    stdin: { contents: `export { default } from 'tap';`, resolveDir: inRoot() },
    outfile: path.join(bundle, 'tap.cjs'),
    bundle: true,
    alias: REPLACED,
    define: { 'import.meta.url': ADDRESS },
    banner: { js: `const ${ADDRESS}=require('node:url').pathToFileURL(__filename).href;` },
  });
  fs.mkdirSync(path.dirname(description), { recursive: true });
  const loader = path.join(path.dirname(description), 'index.js');
  fs.copyFileSync(LOADER, loader);
  fs.writeFileSync(
    description,
    JSON.stringify({ name: 'tap', version, type: 'module', exports: './index.js' }),
  );
  compileTap(pathToFileURL(loader).href);
}

try {
  await transpile();
  await bundleTap();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
