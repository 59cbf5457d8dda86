/**
 * Runs test files in processes, and says how they went: a line a file, the details of what failed, and `N passed, N failed` at the
 * end, however it ends. Not tap's command: it loads recorders of coverage into every process that a test starts.
 */
import path from 'node:path';
import { onInterrupt } from './children.mjs';
import { countFile, countLine, sum, writeCounts } from './counts.mjs';
import { countsFile as usualCountsFile } from './paths.mjs';
import { filesOf } from './test-batches.mjs';
import { makeTestFolder } from './test-folder.mjs';
import { runProcess } from './test-process.mjs';
import { createQueue } from './test-queue.mjs';
import { describeFile } from './test-reports.mjs';
import { startSharedParts } from './shared-parts.mjs';
import { createUsage } from './usage.mjs';

/** Beside the counts: the processor time of each file. */
const USAGE_FILE = 'usage.json';

/** Nothing else runs beside it. */
const ALONE = { nice: 0 };

/** Without a trace of an outer run of tests, should a test run tests. */
function environment(more) {
  const outer = (key) => /^(_TAPJS_|TAP_)/.test(key);
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !outer(key)));
  return { ...env, ...more };
}

/**
 * The end of the run, however it comes: what never ran has failed, and nothing passed is no success.
 * `done` maps the name of each file to its counts, undefined while it has none.
 */
function finish({ done, notes, usage }, countsFile, code) {
  for (const [name, counts] of done) {
    if (counts) continue;
    console.log(`FAILED ${name}: did not run to its end`);
    done.set(name, { passed: 0, failed: 1, skipped: 0 });
  }
  const counts = sum([...done.values()]);
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? code : code || 1;
  writeCounts(countsFile, counts);
  for (const line of [...notes, ...usage.lines()]) console.log(line);
  usage.write(path.join(path.dirname(countsFile), USAGE_FILE));
  console.log(`# ${done.size} files, ${counts.skipped} skipped`);
  console.log(countLine(counts));
}

/**
 * Runs files that failed once more, each alone. One that passes then is flaky: it still counts as failed, unless `flaky`
 * (flaky-tests.mjs) names it. Returns what is to be said of them.
 */
async function runAgain(files, { run, done, flaky }) {
  const notes = [];
  for (const file of files) {
    const first = done.get(file.name);
    console.log(`# once more, alone: ${file.name}`);
    await run(file, ALONE);
    if (done.get(file.name).failed > 0) continue;
    const isListed = flaky.includes(file.name);
    if (!isListed) done.set(file.name, first);
    const verdict = isListed ? 'as test/flaky.md says' : 'a failure, as test/flaky.md has no row for it';
    notes.push(`flaky: ${file.name} failed beside others and passed alone: ${verdict}`);
  }
  return notes;
}

/** The processes that run, which signals end. */
function createFamily() {
  const children = new Set();
  const stop = (signal) => children.forEach((child) => child.kill(signal));
  onInterrupt(stop);
  return {
    stop,
    started(child) {
      children.add(child);
      child.once('close', () => children.delete(child));
    },
  };
}

/**
 * Runs `runs` (`{ name, file, lane, slow }`, or batches of them: test-batches.mjs) in `places` (`{ least, most }`, test-queue.mjs),
 * on the Node that is `program`, `timeout` seconds each file at most; `bail` stops at the first that fails, `grep` picks tests inside of
 * them. Up to `again` files that failed run once more; more than that is no accident. Ends with exit code 0 only if all is well.
 */
export async function runTests(runs, options) {
  const { places, again = 0, flaky = [], grep, countsFile = usualCountsFile() } = options;
  const { program = process.execPath, timeout, bail = false } = options;
  const files = filesOf(runs);
  const done = new Map(files.map(({ name }) => [name, undefined]));
  const usage = createUsage();
  const notes = [];
  process.once('exit', (code) => finish({ done, notes, usage }, countsFile, code));
  const { stop, started } = createFamily();
  const folder = { TEST_FOLDER: makeTestFolder() };
  const shared = await startSharedParts(runs, program, usage, folder);
  // Not a variable of this process: its own tests are the files.
  const own = environment({ ...folder, ...shared.env, ...(grep && { TAP_GREP: grep }) });
  const hasBailed = () => bail && [...done.values()].some((counts) => counts?.failed > 0);

  async function run(each, { nice }) {
    if (hasBailed()) return;
    const { args, env } = usage.of(each.name);
    const process = { program, args, env: { ...own, ...env }, timeout, nice, started };
    for (const account of await runProcess(each, process)) {
      const counts = countFile(account);
      done.set(account.name, counts);
      console.log(describeFile(account, counts));
    }
    usage.ended(each.name);
    if (hasBailed()) stop('SIGTERM');
  }

  await createQueue(runs, places).drain(run);
  const failed = files.filter(({ name }) => done.get(name)?.failed > 0);
  if (failed.length <= again) notes.push(...(await runAgain(failed, { run, done, flaky })));
  await shared.stop();
}
