/**
 * The console as browsers load it, in client/console/dist/: the page, its styles, its scripts, and
 * LiveKit's client in a file of its own, which is loaded when somebody talks. Names hold a hash of what is in them, so that
 * browsers may keep them for good. Each file is there compressed as well, since it is served often and never changes.
 */
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { inRoot, ROOT } from './paths.mjs';
import { writeServed } from './served-files.mjs';

const SOURCES = 'client/console/src';
const OUT = inRoot('client', 'console', 'dist');

const ENTRIES = { console: `${SOURCES}/main.tsx`, style: `${SOURCES}/styles/all.css` };

/** The built file of each entry, as the page names it: relative, so that it holds behind a proxy's prefix. */
function namesOf({ outputs }) {
  const built = Object.entries(outputs).flatMap(([file, { entryPoint }]) => {
    const entry = Object.keys(ENTRIES).find((name) => ENTRIES[name] === entryPoint);
    return entry ? [[entry, `console/${path.basename(file)}`]] : [];
  });
  return Object.fromEntries(built);
}

const pageOf = (names) =>
  fs
    .readFileSync(inRoot(SOURCES, 'index.html'), 'utf8')
    .replace('%STYLE%', names.style)
    .replace('%SCRIPT%', names.console);

export async function buildConsole() {
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir: OUT,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // Workers of the page are loaded by their address.
    loader: { '.worklet.js': 'file' },
    assetNames: '[name]-[hash]',
    logLevel: 'error',
  });
  const files = outputFiles.map(({ path: file, contents }) => [path.basename(file), contents]);
  writeServed(OUT, [...files, ['index.html', Buffer.from(pageOf(namesOf(metafile)))]]);
}
