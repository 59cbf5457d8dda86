/**
 * `node transpile.mjs CONFIG FILE…`: TypeScript to JavaScript file by file, to where the tsconfig says, without looking at
 * types: what tests and tools load, a second for all of it. A process of its own, because the compiler would stay in
 * memory. Types are a row of `npm run check`. Beside the files lie packages with patches (patches.mjs), which Node finds
 * before those that npm installs.
 */
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { writePatched } from './patches.mjs';

const [, , configFile, ...files] = process.argv;
const { rootDir, outDir } = JSON.parse(fs.readFileSync(configFile, 'utf8')).compilerOptions;
const folder = path.dirname(configFile);
const outdir = path.resolve(folder, outDir);

try {
  await build({
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    format: 'esm',
    entryPoints: files,
    outbase: path.resolve(folder, rootDir),
    outdir,
    sourcemap: 'linked',
    sourcesContent: false,
  });
  writePatched(path.join(outdir, 'node_modules'));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
