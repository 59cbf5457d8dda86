/** docs/contract/compatibility.md: written by hand, but for the tables of options. */
import fs from 'node:fs';
import { built } from './command.mjs';
import { inRoot } from './paths.mjs';

export const PAGE = 'docs/contract/compatibility.md';

export async function generateOptions() {
  const { withOptionTables } = await import(built('dist', 'gateway', 'commands', 'options-page.js'));
  return withOptionTables(fs.readFileSync(inRoot(PAGE), 'utf8'));
}
