/** The table of docs/operate/sizing.md is what its formula gives (test/chaos/placement/fleet-size.ts). */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import { CALLS_A_CORE, needsOf, sizingRows } from '../../chaos/placement/fleet-size.js';
import t from '../../fixtures/tap.js';

const page = readFileSync(new URL('docs/operate/sizing.md', CHECKOUT), 'utf8');
/** Rows whose first cell is a number of callers. */
const rows = page.split('\n').filter((line) => /^\| [\d,]+ \|/.test(line));

t.strictSame(rows, sizingRows(), 'the page has these rows');
for (const calls of Object.values(CALLS_A_CORE))
  t.match(page, new RegExp(`\\b${calls} calls a core\\b`), `and says ${calls} calls a core`);
t.match(page, `${needsOf(1, 'own').callsAMachine} calls`);
t.match(page, `${needsOf(1, 'elsewhere').callsAMachine} calls`);
t.match(page, `\`WORKERS\`: ${needsOf(1, 'elsewhere').workers}`);
