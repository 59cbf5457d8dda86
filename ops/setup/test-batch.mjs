/**
 * Several test files in one process, one after the other, each as a test of its name: TEST_BATCH is their names and compiled
 * files as JSON (`[{ name, file }]`). For files that leave nothing behind in their process (test-batches.mjs).
 */
import { pathToFileURL } from 'node:url';
// As one file (transpile.mjs).
import { runAs, whole } from '../../dist/node_modules/tap/index.js';

const files = JSON.parse(process.env.TEST_BATCH);
// Not a variable of what the tests start.
delete process.env.TEST_BATCH;
for (const { name, file } of files) {
  const results = await whole.test(name, async (test) => {
    runAs(test);
    await import(pathToFileURL(file).href);
  });
  if (!results?.count) whole.fail(`${name} ran no test`);
}
