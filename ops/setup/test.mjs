/**
 * `npm test -- [pattern …] [--jobs=N] [--timeout=SECONDS] [--grep=PATTERN] [--bail] [--long]`: set-up, then the tests
 * whose path holds one of the patterns. With `--long` the long forms of those that have one, which take minutes. No
 * matching test is a failure.
 */
import './node-version.mjs';
import os from 'node:os';
import { positive, readArguments } from './arguments.mjs';
import { command } from './command.mjs';
import { SetupError } from './failure.mjs';
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
};

/** So many failed files of a whole run run a second time: calls have a real clock, and the machine may be a stranger's. */
const SECOND_RUNS = 3;

/** As many as asked for, or as many as keep the processors busy. */
function placesOf(jobs) {
  if (jobs !== undefined) return { least: positive('jobs', jobs), most: positive('jobs', jobs) };
  const processors = os.availableParallelism();
  return { least: PLACES.least * processors, most: PLACES.most * processors };
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
  const { grep, bail } = values;
  const whole = positionals.length === 0 && !grep && !bail;
  // A pattern of names means tests of files, which in a batch are within another test.
  const runs = grep ? files : inBatches(files);
  await runTests(runs, { places, timeout, bail, grep, again: whole ? SECOND_RUNS : 0 });
});
