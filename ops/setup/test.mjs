/**
 * `npm test -- [pattern …] [--jobs=N] [--timeout=SECONDS] [--grep=PATTERN] [--bail]`: set-up, then the tests
 * whose path holds one of the patterns. No matching test is a failure.
 */
import './node-version.mjs';
import { parseArgs } from 'node:util';
import { command } from './command.mjs';
import { SetupError } from './failure.mjs';
import { prepare, testing } from './prepare.mjs';
import { select, testFiles } from './test-files.mjs';

const OPTIONS = {
  jobs: { type: 'string', default: '2' },
  timeout: { type: 'string', default: '300' },
  grep: { type: 'string' },
  bail: { type: 'boolean', default: false },
};

function parse() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new SetupError(error.message);
  }
}

function positive(name, text) {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new SetupError(`--${name} wants a whole number above 0, not ${text}`);
}

await command(async () => {
  const { values, positionals } = parse();
  const files = select(testFiles(), positionals);
  if (files.length === 0) throw new SetupError(`no test file matches ${positionals.join(' ') || 'anything'}`);
  const jobs = positive('jobs', values.jobs);
  const timeout = positive('timeout', values.timeout);
  if (values.grep) process.env.TAP_GREP = values.grep;
  await prepare(testing());
  const { runTests } = await import('./run-tests.mjs');
  runTests(files, { jobs, timeout, bail: values.bail });
});
