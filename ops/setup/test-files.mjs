/**
 * Which test files there are and which of them a command line means. Taken from the sources, so that what is
 * left of a removed test in dist/ never runs. Acceptance tests are plain .mjs that run where they lie, because
 * their clients are a package of their own; everything else runs compiled.
 */
import path from 'node:path';
import { sources } from './build.mjs';
import { inRoot, ROOT } from './paths.mjs';

const compiled = (source) => inRoot('dist', source.replace(/\.ts$/, '.js'));

/** Folders of tests, what a test file in them is called, and what of it is run. */
const SUITES = [
  { folder: 'test/unit', pattern: /\.test\.ts$/, runs: compiled },
  { folder: 'test/contract', pattern: /\.test\.ts$/, runs: compiled },
  { folder: 'test/acceptance', pattern: /\.test\.mjs$/, runs: (source) => inRoot(source) },
];

const relative = (file) => path.relative(ROOT, file).split(path.sep).join('/');

/** All test files, as `{ name, file }`: the path of the source, and what to run. */
export const testFiles = () =>
  SUITES.flatMap(({ folder, pattern, runs }) =>
    sources(folder, pattern)
      .map(relative)
      .map((name) => ({ name, file: runs(name) })),
  );

/** `./dist/test/unit/a.test.js` and `test/unit/a.test.ts` mean the same; so does any part of the path. */
const asSource = (pattern) =>
  pattern
    .replace(/^\.\//, '')
    .replace(/^dist\//, '')
    .replace(/\.js$/, '.ts');

/** Those whose name holds one of the patterns; all where there is no pattern. */
export const select = (files, patterns) =>
  patterns.length === 0
    ? files
    : files.filter(({ name }) => patterns.some((pattern) => name.includes(asSource(pattern))));
