/**
 * `npm test -- [pattern …] [--jobs=N] [--timeout=SECONDS] [--grep=PATTERN] [--bail] [--long] [--node=24]`: set-up, then the tests
 * whose path holds one of the patterns. With `--long` the long forms of those that have one, which take minutes; with `--node`
 * on another version of Node, which comes with the acceptance tests. No matching test is a failure.
 */
import './node-version.mjs';
import fs from 'node:fs';
import os from 'node:os';
import { positive, readArguments } from './arguments.mjs';
import { command } from './command.mjs';
import { SetupError } from './failure.mjs';
import { flakyFiles } from './flaky-tests.mjs';
import { countsFile, inRoot } from './paths.mjs';
import { prepare, testing } from './prepare.mjs';
import { inBatches } from './test-batches.mjs';
import { select, testFiles } from './test-files.mjs';
import { PLACES } from './test-queue.mjs';

const OPTIONS = {
  jobs: { type: 'string' },
  long: { type: 'boolean', default: false },
  timeout: { type: 'string' },
  grep: { type: 'string' },
  bail: { type: 'boolean', default: false },
  node: { type: 'string' },
};

/** So many failed files of a whole run run a second time, to tell what is flaky from what is broken. */
const SECOND_RUNS = 3;

/** As many as asked for, or as many as keep the processors busy. */
function placesOf(jobs) {
  if (jobs !== undefined) return { least: positive('jobs', jobs), most: positive('jobs', jobs) };
  const processors = os.availableParallelism();
  return { least: PLACES.least * processors, most: PLACES.most * processors };
}

/** The program of another version of Node (test/acceptance/package.json), or this one's. */
function programOf(version) {
  if (version === undefined) return process.execPath;
  const name = `node-${version}-${process.platform}-${process.arch}`;
  const program = inRoot('test', 'acceptance', 'node_modules', name, 'bin', 'node');
  if (!fs.existsSync(program)) throw new SetupError(`test/acceptance has no package ${name}`);
  return program;
}

await command(async () => {
  const { values, positionals } = readArguments(OPTIONS);
  const files = select(testFiles({ long: values.long }), positionals);
  if (files.length === 0) throw new SetupError(`no test file matches ${positionals.join(' ') || 'anything'}`);
  const places = placesOf(values.jobs);
  const timeout = positive('timeout', values.timeout ?? (values.long ? '1800' : '600'));
  if (values.long) process.env.TEST_LONG = '1';
  await prepare(testing());
  // Certificates that a company's proxy needs: tests ask only their own servers, and Node 20 reads the file at each start (70 ms).
  delete process.env.NODE_EXTRA_CA_CERTS;
  const { runTests } = await import('./run-tests.mjs');
  const { grep, bail, node } = values;
  const whole = positionals.length === 0 && !grep && !bail;
  // A pattern of names means tests of files, which in a batch are within another test.
  const runs = grep ? files : inBatches(files);
  await runTests(runs, {
    places,
    timeout,
    bail,
    grep,
    program: programOf(node),
    again: whole ? SECOND_RUNS : 0,
    flaky: flakyFiles(),
    countsFile: countsFile(node),
  });
});
