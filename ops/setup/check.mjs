/**
 * `npm run check`: everything that can be said of the sources without running them. All rows run, two at a time,
 * each is one line with its time, and any that fails makes the exit code 1.
 */
import './node-version.mjs';
import { checkTypes, ensureBuilt } from './build.mjs';
import { runChild } from './children.mjs';
import { command } from './command.mjs';
import { SetupError } from './failure.mjs';
import { checkGenerated } from './generated.mjs';
import { inRoot, ROOT } from './paths.mjs';
import { LOOKING, prepare } from './prepare.mjs';
import { createProgress } from './progress.mjs';
import { checkAddresses, checkLocks, checkMerges } from './repository-rules.mjs';

const AT_A_TIME = 2;

async function tool(script, ...args) {
  const { code, output } = await runChild(process.execPath, [inRoot('node_modules', script), ...args], {
    cwd: ROOT,
  });
  if (code !== 0) return output;
  // Sizes are warnings: they are shown, and fail nothing.
  for (const line of output.filter((text) => text.includes('[Warning/'))) console.log(`check: ${line}`);
  return [];
}

/** Some of them are made by what is built. */
async function generated() {
  await ensureBuilt();
  return checkGenerated();
}

/** Each returns lines of what is wrong, or throws; the slow ones first. */
const ROWS = {
  lint: () => tool('oxlint/bin/oxlint', '--format=unix', '--report-unused-disable-directives-severity=error'),
  types: () => checkTypes(),
  format: () => tool('oxfmt/bin/oxfmt', '--check', '.'),
  imports: async () => (await import('./import-rule.mjs')).checkImports(),
  architectures: async () => (await import('../image/architectures.mjs')).checkArchitectures(),
  circles: async () => (await import('./import-circles.mjs')).checkCircles(),
  rooms: async () => (await import('./rooms.mjs')).checkRooms(),
  references: async () => (await import('./references.mjs')).checkReferences(),
  tests: async () => (await import('./test-rules.mjs')).checkTests(),
  generated,
  lock: () => checkLocks(),
  addresses: () => checkAddresses(),
  merges: () => checkMerges(),
};

const problemsOf = async (check) => {
  try {
    return await check();
  } catch (error) {
    return [error instanceof SetupError ? error.message : error.stack];
  }
};

async function runRows() {
  const progress = createProgress({ title: 'check', stream: process.stdout });
  const waiting = Object.entries(ROWS);
  const failed = [];
  async function work() {
    for (let row; (row = waiting.shift());) {
      const [name, check] = row;
      const problems = await progress.run(name, () => problemsOf(check));
      if (problems.length > 0) failed.push({ name, problems });
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return failed;
}

await command(async () => {
  await prepare(LOOKING);
  const failed = await runRows();
  for (const { name, problems } of failed) console.log(`\ncheck: ${name} failed\n${problems.join('\n')}`);
  console.log(failed.length ? `\ncheck: ${failed.length} failed` : 'check: all well');
  if (failed.length > 0) process.exitCode = 1;
});
