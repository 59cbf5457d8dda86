/**
 * `node transpile.mjs CONFIG FILE…`: TypeScript to JavaScript file by file, to where the tsconfig says, without looking at
 * types: what tests and tools load, a second for all of it. A process of its own, because the compiler would stay in
 * memory. Types are a row of `npm run check`.
 */
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const [, , configFile, ...files] = process.argv;
const { rootDir, outDir } = JSON.parse(fs.readFileSync(configFile, 'utf8')).compilerOptions;
const folder = path.dirname(configFile);

try {
  await build({
    entryPoints: files,
    outbase: path.resolve(folder, rootDir),
    outdir: path.resolve(folder, outDir),
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'error',
  });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
