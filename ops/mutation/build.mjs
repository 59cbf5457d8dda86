/**
 * `node build.mjs FILE…`, in Stryker's copy of the checkout: the mutated sources to JavaScript. Some tests read sources,
 * so these are as they were afterwards.
 */
import fs from 'node:fs';
import { runChild } from '../setup/children.mjs';
import { inRoot } from '../setup/paths.mjs';

const files = process.argv.slice(2);
const transpile = inRoot('ops', 'setup', 'transpile.mjs');
const { code, output } = await runChild(process.execPath, [transpile, 'tsconfig.json', ...files]);
if (code !== 0) throw new Error(output.join('\n'));
for (const file of files) fs.copyFileSync(inRoot(file), file);
