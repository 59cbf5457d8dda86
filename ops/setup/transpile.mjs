/**
 * `node transpile.mjs CONFIG FILE…`: TypeScript to JavaScript file by file, to where the tsconfig says, without looking at
 * types: what tests and tools load, a second for all of it. A process of its own, because the compiler would stay in
 * memory. Types are a row of `npm run check`.
 *
 * Beside the files lies tap as one file, which Node finds before the package: 350 modules are half a second for each of some
 * hundreds of test files. It records no coverage (plain-processes.mjs) and follows no promises (plain-domains.mjs).
 */
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { inRoot } from './paths.mjs';
import { REQUIRE } from './commonjs.mjs';
import { keyOf } from './stamps.mjs';

const [, , configFile, ...files] = process.argv;
const { rootDir, outDir } = JSON.parse(fs.readFileSync(configFile, 'utf8')).compilerOptions;
const folder = path.dirname(configFile);
const outdir = path.resolve(folder, outDir);
const COMMON = { format: 'esm', platform: 'node', target: 'node20', logLevel: 'error' };

const transpile = () =>
  build({
    ...COMMON,
    entryPoints: files,
    outbase: path.resolve(folder, rootDir),
    outdir,
    sourcemap: 'linked',
    sourcesContent: false,
  });

const readJson = (file) => (fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {});

/** Packages of tap's that cost much and do little for us. */
const REPLACED = {
  '@tapjs/processinfo': inRoot('ops', 'setup', 'plain-processes.mjs'),
  'async-hook-domain': inRoot('ops', 'setup', 'plain-domains.mjs'),
};
const TAP = `export * from 'tap';export { default } from 'tap';`;

async function bundleTap() {
  const { version: own } = readJson(inRoot('node_modules', 'tap', 'package.json'));
  const version = `${own}+${keyOf(...Object.values(REPLACED).map((file) => fs.readFileSync(file)))}`;
  const modules = path.join(outdir, 'node_modules');
  const description = path.join(modules, 'tap', 'package.json');
  if (readJson(description).version === version) return;
  await build({
    ...COMMON,
    stdin: { contents: TAP, resolveDir: inRoot() },
    // Stack traces leave out what lies in a folder of this name.
    outfile: path.join(modules, '@tapjs', 'tap.js'),
    bundle: true,
    alias: REPLACED,
    banner: { js: REQUIRE },
  });
  fs.mkdirSync(path.dirname(description), { recursive: true });
  fs.writeFileSync(path.join(modules, 'tap', 'index.js'), TAP.replaceAll(`'tap'`, `'../@tapjs/tap.js'`));
  fs.writeFileSync(
    description,
    JSON.stringify({ name: 'tap', version, type: 'module', exports: './index.js' }),
  );
}

try {
  await transpile();
  await bundleTap();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
