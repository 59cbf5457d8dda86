/**
 * Runs test files under tap, each in a process of its own, and says how they went: a line a file, the details of
 * what failed, tap's totals, and `N passed, N failed` at the end, however it ends. We use tap's library and not
 * its command, whose TypeScript loader costs every file a second and is of no use for compiled tests.
 */
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { onInterrupt } from './children.mjs';
import { countFile, countLine, sum, writeCounts } from './counts.mjs';
import { COUNTS_FILE, ROOT } from './paths.mjs';
import { filesOf } from './test-batches.mjs';
import { TEST_FLAGS } from './test-flags.mjs';
import { makeTestFolder } from './test-folder.mjs';
import { createQueue } from './test-queue.mjs';
import { startSharedParts } from './shared-parts.mjs';
import { inSources, sourcePlace } from './source-places.mjs';
import { createUsage } from './usage.mjs';
// As one file (transpile.mjs).
import { whole as t } from '../../dist/node_modules/tap/index.js';

/** The diagnostics that are shown of a failing assertion, in this order. */
const SHOWN = [
  'diff',
  'error',
  'message',
  'expired',
  'found',
  'wanted',
  'code',
  'signal',
  'exitCode',
  'stack',
];

/** Beside the counts: the processor time of each file. */
const USAGE_FILE = 'usage.json';

/** Nothing else runs beside it. */
const ALONE = { nice: 0 };

const indent = (text) => text.trimEnd().replace(/^/gm, '      ');
const shown = (value) => (typeof value === 'string' ? inSources(value) : inspect(value, { depth: 5 }));

function where({ fileName, lineNumber, columnNumber = 1 }) {
  const { file, line } = sourcePlace({ file: fileName, line: lineNumber, column: columnNumber });
  return ` (${file}:${line})`;
}

/** One failing assertion in words: its full name, where it stands, and what was different. */
function describeFailure({ fullname, name, diag }) {
  const at = diag?.at?.fileName ? where(diag.at) : '';
  const keys = diag?.diff ? ['diff', 'stack'] : SHOWN;
  const details = keys
    .filter((key) => diag?.[key] !== undefined && diag[key] !== null)
    .map((key) => indent(key === 'diff' ? diag[key] : `${key}: ${shown(diag[key])}`));
  return [`    not ok ${fullname || name}${at}`, ...details].join('\n');
}

const describeSkip = ({ name, skip }) => `    skipped ${name}${skip === true ? '' : `: ${skip}`}`;

function describeFile({ name, lists }, counts, ms) {
  const { passed, failed, skipped, fault } = counts;
  const numbers = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`];
  return [
    `${failed ? 'FAILED' : 'ok'} ${name}: ${numbers.filter(Boolean).join(', ')} (${(ms / 1000).toFixed(1)} s)`,
    ...(fault ? [`    ${fault}`] : []),
    ...lists.fail.map(describeFailure),
    ...lists.skip.map(describeSkip),
  ].join('\n');
}

/** Without a trace of an outer tap, should a test run tests. */
function environment(more) {
  const outer = (key) => /^(_TAPJS_|TAP_CHILD|TAP_JOB)/.test(key);
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !outer(key)));
  return { ...env, ...more };
}

/** A file that has ended already has no priority to set. */
function setNice(pid, nice) {
  try {
    os.setPriority(pid, nice);
  } catch (error) {
    if (error.code !== 'ERR_SYSTEM_ERROR') throw error;
  }
}

/**
 * The process that tap spawns for a file or a batch; `own` are the arguments and variables of this process alone. Each file of it has
 * `timeout` seconds.
 */
function commandOf(run, own, { env, timeout }) {
  const seconds = timeout * filesOf([run]).length;
  return [
    process.execPath,
    [...TEST_FLAGS, ...own.args, run.file],
    {
      ...{ name: run.name, buffered: true, cwd: ROOT, timeout: seconds * 1000 },
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...env, ...run.env, ...own.env, TAP_TIMEOUT: String(seconds) },
    },
  ];
}

/**
 * The end of the run, however it comes: what never ran has failed, and nothing passed is no success.
 * `done` maps the name of each file to its counts, undefined while it has none.
 */
function finish({ done, flaky, usage, files }, countsFile, code) {
  for (const [name, counts] of done) {
    if (counts) continue;
    console.log(`FAILED ${name}: did not run to its end`);
    done.set(name, { passed: 0, failed: 1, skipped: 0 });
  }
  const counts = sum([...done.values()]);
  const well = counts.failed === 0 && counts.passed > 0;
  // tap's code knows nothing of second runs.
  process.exitCode = well ? (flaky.length > 0 ? 0 : code) : code || 1;
  writeCounts(countsFile, counts);
  for (const name of flaky)
    console.log(`flaky: ${name} failed beside others and passed alone; that is a defect too`);
  for (const line of usage.lines()) console.log(line);
  usage.write(path.join(path.dirname(countsFile), USAGE_FILE));
  console.log(`# ${files} files, ${counts.skipped} skipped`);
  console.log(countLine(counts));
}

/** tap as its own runner has it: it takes over the exit code, and a bail-out does not end this process. */
function prepareTap(jobs) {
  t.context = Symbol.for('tap.isRunner');
  t.setTimeout(0);
  t.jobs = jobs;
  t.register();
  t.resume();
}

/** Runs a file, or each of a batch, once more. Returns whether all have passed; their counts take the place of the first. */
async function passesAlone(failed, run, done) {
  const files = filesOf([failed]);
  done.delete(failed.name);
  for (const { name } of files) done.set(name, undefined);
  for (const file of files) {
    console.log(`# once more, alone: ${file.name}`);
    await run(file, ALONE);
  }
  return files.every(({ name }) => done.get(name)?.failed === 0);
}

/**
 * Runs `files` (`{ name, file, lane, slow }`, or batches of them: test-batches.mjs) in `places` (`{ least, most }`, test-queue.mjs),
 * `timeout` seconds each at most; `bail` stops at the first that fails, `grep` picks tests inside of them. Up to `again` of those that
 * failed run once more, each file alone; more than that is no accident. The process ends with the last of them, and with code 0 only
 * if all is well.
 */
export async function runTests(
  files,
  { places, timeout, bail = false, grep, again = 0, countsFile = COUNTS_FILE },
) {
  const done = new Map(files.map(({ name }) => [name, undefined]));
  const usage = createUsage();
  const flaky = [];
  const number = filesOf(files).length;
  process.once('exit', (code) => finish({ done, flaky, usage, files: number }, countsFile, code));
  prepareTap(places.most);
  const subtests = new Map();
  const begun = new Map();
  t.on('spawn', (subtest) => {
    subtests.set(subtest.name, subtest);
    begun.set(subtest.name, performance.now());
  });
  onInterrupt((signal) => {
    for (const { proc } of subtests.values()) proc?.kill(signal);
  });
  function ended(name) {
    const subtest = subtests.get(name);
    if (!subtest) return;
    const counts = countFile(subtest);
    done.set(name, counts);
    console.log(describeFile(subtest, counts, performance.now() - begun.get(name)));
    if (bail && counts.failed > 0) t.bailout(`${name} failed`);
  }

  const folder = { TEST_FOLDER: makeTestFolder() };
  const shared = await startSharedParts(files, usage, folder);
  // Not a variable of this process: its own tests are the files.
  const env = environment({ ...folder, ...shared.env, ...(grep && { TAP_GREP: grep }) });
  async function run(file, { nice }) {
    const { name } = file;
    const spawned = t.spawn(...commandOf(file, usage.of(name), { env, timeout }));
    const { proc } = subtests.get(name) ?? {};
    if (proc) setNice(proc.pid, nice);
    await spawned;
    usage.ended(name);
    ended(name);
  }
  await createQueue(files, places).drain(run);
  const failed = files.filter(({ name }) => done.get(name)?.failed > 0);
  for (const each of failed.length > again ? [] : failed)
    if (await passesAlone(each, run, done)) flaky.push(each.name);
  await shared.stop();
  t.end();
}
