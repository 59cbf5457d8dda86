/**
 * Several test files in one process, one after the other, each as a test of its name: TEST_BATCH is their names and compiled
 * files as JSON (`[{ name, file }]`). For files that leave nothing behind in their process (test-batches.mjs) but variables, which
 * each finds as the first did.
 */
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { runAs } from '../../dist/test/fixtures/tap.js';
import { countPart } from './usage-preload.mjs';

const files = JSON.parse(process.env.TEST_BATCH);
// Not a variable of what the tests start.
delete process.env.TEST_BATCH;
const variables = { ...process.env };
/** In milliseconds; TAP_TIMEOUT is that of all, in seconds. */
const timeout = (Number(process.env.TAP_TIMEOUT) * 1000) / files.length;

function restoreVariables() {
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
}

for (const { name, file } of files) {
  await t.test(name, { timeout }, async (test) => {
    runAs(test);
    await import(pathToFileURL(file).href);
  });
  restoreVariables();
  countPart(name);
}
