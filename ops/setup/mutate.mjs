/**
 * `npm run mutate -- [part of a path …] [--jobs=1] [--only=stryker|numbers] [--tests=NAME,NAME]`: changes the sources of
 * pure logic in one place at a time, and reports which changes no unit test notices. Everything takes hours; `nice` lets it
 * give way to other work, and `--tests` runs only unit tests of these names (`realtime` for test/unit/actors/realtime.test.ts).
 * `.tap/mutation.json` keeps the whole report.
 */
import './node-version.mjs';
import fs from 'node:fs';
import { positive, readArguments } from './arguments.mjs';
import { command } from './command.mjs';
import { SetupError } from './failure.mjs';
import { inRoot } from './paths.mjs';
import { MUTATING, prepare } from './prepare.mjs';

const REPORT = inRoot('.tap', 'mutation.json');

const OPTIONS = {
  jobs: { type: 'string', default: '1' },
  only: { type: 'string' },
  tests: { type: 'string' },
};

/** How the mutants of a source are made and tried. They load packages that set-up has yet to lay out. */
const PASSES = {
  stryker: async (...args) => (await import('../mutation/stryker.mjs')).strykerMutants(...args),
  numbers: async (...args) => (await import('../mutation/numbers.mjs')).numberMutants(...args),
};

function passesOf(only) {
  if (only === undefined) return Object.values(PASSES);
  if (Object.hasOwn(PASSES, only)) return [PASSES[only]];
  throw new SetupError(`--only wants ${Object.keys(PASSES).join(' or ')}, not ${only}`);
}

/** The mutants of one source, told as they are known. */
async function mutantsOf(file, tests, jobs, passes) {
  const { describe, isUndetected, score } = await import('../mutation/report.mjs');
  const text = fs.readFileSync(inRoot(file), 'utf8');
  const mutants = [];
  for (const pass of passes) mutants.push(...(await pass(file, tests, jobs)));
  for (const mutant of mutants.filter(isUndetected)) console.log(describe(file, text, mutant));
  console.log(tests.length === 0 ? `${file}: no unit test` : `${file}: ${score(mutants)}`);
  return mutants;
}

await command(async () => {
  const { values, positionals } = readArguments(OPTIONS);
  const [jobs, passes] = [positive('jobs', values.jobs), passesOf(values.only)];
  await prepare(MUTATING);
  const { builtGraph, targetsOf, testsIn } = await import('../mutation/targets.mjs');
  const targets = targetsOf(positionals);
  if (targets.length === 0) throw new SetupError(`nothing that is mutated matches ${positionals.join(' ')}`);
  const testsOf = testsIn(builtGraph(), values.tests?.split(','));
  const report = {};
  for (const file of targets) {
    const tests = testsOf(file);
    report[file] = await mutantsOf(file, tests, jobs, tests.length === 0 ? [] : passes);
    fs.writeFileSync(REPORT, JSON.stringify(report, null, 2));
  }
});
