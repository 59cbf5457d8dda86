/**
 * `npm run chaos -- conversation [NAME …] [--short] [--calls=8]`: whatever fails, hangs or behaves oddly around a conversation, in real calls
 * (docs/operate/chaos.md). Prints a line for each row. Exit code 1 if one fails.
 */
import { parseArgs } from 'node:util';
import { letGo } from '../../fixtures/calls/caller.js';
import { makeCall } from './call.js';
import { nameOf } from './doubles/speech.js';
import { judge, type Verdict } from './judge.js';
import { type Row, ROWS } from './rows.js';
import { startWorld, type World } from './world.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, calls: { type: 'string', default: '8' } },
});

const isWanted = ({ name, short }: Row): boolean =>
  (!values.short || short === true) &&
  (positionals.length === 0 || positionals.some((wanted) => name.includes(wanted)));

interface Numbered {
  readonly row: Row;
  readonly call: number;
}

/** Ends in the opposite order of their beginnings. */
class Ends {
  readonly #ends: (() => unknown)[] = [];

  teardown(end: () => unknown): void {
    this.#ends.push(end);
  }

  async all(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}

let failed = 0;
function tell({ name, figures, faults }: Verdict): void {
  if (faults.length > 0) failed += 1;
  const reasons = faults.map((fault) => `\n     ${fault}`).join('');
  console.log(`${faults.length > 0 ? 'FAIL' : 'PASS'} ${name}: ${figures}${reasons}`);
}

async function run({ one, two = one, own = one }: World, { row, call }: Numbered): Promise<void> {
  try {
    const side = row.own ? own : row.second ? two : one;
    tell(judge(await makeCall(side, row, call), !values.short));
  } catch (error) {
    tell({ name: row.name, figures: 'no call', faults: [String(error)] });
  }
}

/** So many at a time, each as soon as there is room. */
async function runAll(world: World, rows: readonly Numbered[], atOnce: number): Promise<void> {
  const left = [...rows];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) await run(world, next);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const rows = ROWS.filter(isWanted).map((row, index): Numbered => ({ row, call: index }));
const ends = new Ends();
try {
  const has = (what: 'second' | 'own'): boolean => rows.some(({ row }) => row[what]);
  const calls = rows.map(({ call }) => nameOf(call));
  const world = await startWorld(ends, { calls, two: has('second'), own: has('own') });
  const [own, others] = [rows.filter(({ row }) => row.own), rows.filter(({ row }) => !row.own)];
  const together = others.filter(({ row }) => !row.apart);
  await Promise.all([runAll(world, together, Number(values.calls)), runAll(world, own, 1)]);
  await runAll(
    world,
    others.filter(({ row }) => row.apart),
    1,
  );
} finally {
  await ends.all();
  letGo();
}
console.log(
  failed === 0
    ? `conversation: all ${rows.length} rows hold`
    : `conversation: ${failed} of ${rows.length} rows fail`,
);
process.exit(failed === 0 ? 0 : 1);
