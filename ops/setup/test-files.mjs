/**
 * The list of test files, and those that a command line means. Taken from the sources, so that what is
 * left of a removed test in dist/ never runs. Acceptance tests are plain .mjs that run where they lie, because
 * their clients are a package of their own; everything else runs compiled.
 */
import fs from 'node:fs';
import path from 'node:path';
import { sources } from './build.mjs';
import { inRoot, ROOT } from './paths.mjs';

const compiled = (source) => inRoot('dist', source.replace(/\.ts$/, '.js'));

/** Folders of tests, what a test file in them is called, and what of it is run. The longest come first. */
const SUITES = [
  { folder: 'test/contract', pattern: /\.test\.ts$/, runs: compiled },
  { folder: 'test/acceptance', pattern: /\.test\.mjs$/, runs: (source) => inRoot(source) },
  {
    folder: 'bench/test',
    pattern: /\.test\.ts$/,
    runs: (source) => inRoot(source.replace(/^bench\//, 'bench/dist/').replace(/\.ts$/, '.js')),
  },
  { folder: 'test/unit', pattern: /\.test\.ts$/, runs: compiled },
];

/** Files in which people talk, or connections rest, in real time. */
const CALLS = new RegExp(
  '^test/(contract/(agent-(elevenlabs|realtime)/|agent-tests/(?!queue)|chaos/conversation|conversation/|edge/long-answers|gateway/(nodes|whole-gateway)|' +
    'livekit/|media/(clients|ice-candidates)|phone/|recordings/|speech/unspoken)|' +
    'acceptance/(browser|client-sdk|described-client|elevenlabs-agents|examples|node-versions|realtime-agents|rtc-node))',
);
/** Files that take half a minute or more, wherever they run. */
const SLOW = new RegExp(
  '^test/(contract/(gateway/(nodes|shutdown)|livekit/(nodes|rooms|server))|' +
    'acceptance/(browser(|-console|-widget)|client-sdk|examples|node-versions|sdks))\\.test',
);
const laneOf = (name) => (CALLS.test(name) ? 'calls' : 'others');

const relative = (file) => path.relative(ROOT, file).split(path.sep).join('/');

/** Files that have a long form ask for it (test/fixtures/long.ts), by themselves or by way of a fixture. */
const ASKS = /\/long\.js'/;
const textOf = (name) => fs.readFileSync(inRoot(name), 'utf8');

/** The built paths, within the folder, of the fixtures that ask. */
const askingFixtures = () =>
  sources('test/fixtures', /\.ts$/)
    .map(relative)
    .filter((name) => ASKS.test(textOf(name)))
    .map((name) => name.replace(/^test/, '').replace(/\.ts$/, '.js'));

function withLongForm(files) {
  const fixtures = ['/fixtures/long.js', ...askingFixtures()];
  return files.filter(({ name }) => fixtures.some((fixture) => textOf(name).includes(fixture)));
}

const allFiles = () =>
  SUITES.flatMap(({ folder, pattern, runs }) =>
    sources(folder, pattern)
      .map(relative)
      .map((name) => ({ name, file: runs(name), lane: laneOf(name), slow: SLOW.test(name) })),
  );

/**
 * The test files, as `{ name, file, lane, slow }`: the path of the source, what to run, and where in which queue
 * (test-queue.mjs). The argument `long`: those that have a long form.
 */
export const testFiles = ({ long = false } = {}) => (long ? withLongForm(allFiles()) : allFiles());

/** `./dist/test/unit/a.test.js` and `test/unit/a.test.ts` mean the same; so does any part of the path. */
const asSource = (pattern) =>
  pattern
    .replace(/^\.\//, '')
    .replace(/^dist\//, '')
    .replace(/\.js$/, '.ts');

/** The files whose name contains one of the patterns; all files without a pattern. */
export const select = (files, patterns) =>
  patterns.length === 0
    ? files
    : files.filter(({ name }) => patterns.some((pattern) => name.includes(asSource(pattern))));
