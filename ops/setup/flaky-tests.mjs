/** The table of test/flaky.md: test files that may fail beside others, if they pass alone. */
import fs from 'node:fs';
import { inRoot } from './paths.mjs';

const HEAD = '| --- | --- | --- |\n';

/** Its rows, as `{ file, cause, since }`. */
export const flakyRows = (page) =>
  page
    .slice(page.indexOf(HEAD) + HEAD.length)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, file, cause, since]) => ({ file: file.replaceAll('`', ''), cause, since }));

/** The names of the files. */
export const flakyFiles = () =>
  flakyRows(fs.readFileSync(inRoot('test', 'flaky.md'), 'utf8')).map(({ file }) => file);
