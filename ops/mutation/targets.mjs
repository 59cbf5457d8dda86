/**
 * The files that are mutated, and the unit tests that are run for it: those of its name, and those nearest by the imports of what is
 * built, where imports of types are gone.
 */
import fs from 'node:fs';
import path from 'node:path';
import { sources } from '../setup/build.mjs';
import { graphOf } from '../setup/import-circles.mjs';
import { inRoot, ROOT } from '../setup/paths.mjs';

/** Logic without effects. What needs a database has no unit test. */
const PURE = /^(actors\/|contracts\/|codecs\/formats\.|engines\/text\/|storage\/(bounded|page)\.)/;
const FOLDERS = ['actors', 'contracts', 'codecs', 'engines', 'storage'];

/** A test that imports the file, or imports one that does. */
const FARTHEST = 2;
/** A part of a machine is tested through the machine, and that by way of a fixture. */
const FARTHEST_RELATED = 4;
/** More tests cost time and kill little more: those chosen first are the closest to the file. */
const MOST_TESTS = 8;

const relative = (file) => path.relative(ROOT, file).split(path.sep).join('/');
const builtFrom = (source) => `dist/${source.replace(/\.ts$/, '.js')}`;
const isUnitTest = (file) => /^dist\/test\/unit\/.*\.test\.js$/.test(file);

/** The compiled text of a file that holds types only. */
const EMPTY = /^export \{\};$/m;
const holdsCode = (file) => !EMPTY.test(fs.readFileSync(inRoot(builtFrom(file)), 'utf8'));

/** The built sources that are mutated and whose path holds one of the parts; all of them where there is no part. */
export const targetsOf = (parts) =>
  FOLDERS.flatMap((folder) => sources(folder, /\.ts$/))
    .map(relative)
    .filter((file) => PURE.test(file) && holdsCode(file))
    .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));

/** Everything that is built and still has a source, as a graph of imports. */
export function builtGraph() {
  const built = sources('dist', /\.js$/)
    .map(relative)
    .filter((file) => fs.existsSync(inRoot(file.replace(/^dist\//, '').replace(/\.js$/, '.ts'))));
  return graphOf(new Map(built.map((file) => [file, fs.readFileSync(inRoot(file), 'utf8')])));
}

/** How many imports away from `start` each file is that it loads. */
function distances(graph, start) {
  const far = new Map([[start, 0]]);
  for (const [file, distance] of far)
    for (const target of graph.get(file) ?? []) if (!far.has(target)) far.set(target, distance + 1);
  return far;
}

const stem = (file) => path.basename(file).split('.')[0];

/** Where a test's source is, with the scenario behind it: `actors/agent/agent-silence`. Test folders mirror the sources. */
const placeOf = (test) => test.replace(/^dist\/test\/unit\//, '').replace(/\.test\.js$/, '');

/** Whether a test is named after the source, as `codecs/formats` or `codecs/formats-rates` for `codecs/formats.ts`. */
function isOf(test, source) {
  const [place, own] = [placeOf(test), source.replace(/\.ts$/, '')];
  return place === own || place.startsWith(`${own}-`);
}

/** Whether a test is of the source, of a folder that it is in (`contracts/limits`), or lies in such a folder below its room. */
function isRelated(test, source) {
  const place = placeOf(test);
  const folder = path.posix.dirname(place);
  const isNear = folder.includes('/') && source.startsWith(`${folder}/`);
  return isOf(test, source) || isNear || source.startsWith(`${place}/`);
}

/** How far a test is chosen from, in imports. */
const reach = (test, source) => (isRelated(test, source) ? FARTHEST_RELATED : FARTHEST);

/**
 * Rank of a test among those of `source`: one of its name first, then those that import it, then those of its folder; else
 * by distance and by how much it loads. Smaller is closer.
 */
const rankFor =
  (source) =>
  ({ test, far }) => [
    isOf(test, source) ? 0 : 1,
    far.get(builtFrom(source)) === 1 ? 0 : 1,
    isRelated(test, source) ? 0 : 1,
    far.get(builtFrom(source)),
    far.size,
  ];

/**
 * A function from a source to its unit tests in the graph, the closest first. With `names`, these are the tests of those names that
 * load the source, however far they are.
 */
export function testsIn(graph, names) {
  const tests = [...graph.keys()].filter(isUnitTest).map((test) => ({ test, far: distances(graph, test) }));
  const isChosen =
    (source) =>
    ({ test, far }) =>
      names
        ? names.includes(stem(test)) && far.has(builtFrom(source))
        : far.get(builtFrom(source)) <= reach(test, source);
  return (source) => {
    const rank = rankFor(source);
    const compare = (a, b) =>
      rank(a)
        .map((value, index) => value - rank(b)[index])
        .find((difference) => difference !== 0) ?? 0;
    return tests
      .filter(isChosen(source))
      .sort(compare)
      .slice(0, MOST_TESTS)
      .map(({ test }) => test);
  };
}
