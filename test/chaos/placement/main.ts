/**
 * `npm run chaos -- placement [--nodes=10000] [--calls=1000000] [--seed=1]`: calls of a simulated fleet, placed by the gateway's own code
 * (fleet.ts), while nodes are added, die, drain and lose their network; then what that asks of Postgres (database.ts). Exit code 1 if
 * a rule is broken (judge.ts). `npm run chaos -- placement postgres [nodes …]` counts on a real Postgres (postgres.ts).
 */
import { parseArgs } from 'node:util';
import { loadOn, type StatementLoad } from './database.js';
import { type Fault, Fleet, type FleetPlan, type Sample } from './fleet.js';
import { broken, meanOf } from './judge.js';
import { countStatements } from './postgres.js';

const MEAN_CALL_SECONDS = 180;
const IN_USE = 0.6;
const SHOWN_SECONDS = 60;
/** Part of the fleet for the comparison without placing. */
const COMPARED = 0.1;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: 'string', default: '10000' },
    calls: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
  },
});

/** In parts of the fleet. */
const faultsOf = (nodes: number): readonly Fault[] => [
  { at: 60, kind: 'add', count: 1 },
  { at: 120, kind: 'add', count: Math.ceil(nodes / 20) },
  { at: 240, kind: 'kill', count: Math.ceil(nodes / 100) },
  { at: 300, kind: 'drain', count: Math.ceil(nodes / 50) },
  { at: 360, kind: 'unplug', count: Math.ceil(nodes / 100), seconds: 20 },
  { at: 420, kind: 'unplug', count: Math.ceil(nodes / 100), seconds: 180 },
  { at: 480, kind: 'burst', count: 3, seconds: 10 },
];

const plan = (placed: FleetPlan['placed'], share = 1): FleetPlan => {
  const nodes = Math.ceil(Number(values.nodes) * share);
  return {
    ...{ seed: Number(values.seed), nodes, calls: Math.ceil(Number(values.calls) * share) },
    ...{ meanCallSeconds: MEAN_CALL_SECONDS, inUse: IN_USE, placed, faults: faultsOf(nodes) },
  };
};

const shownSpread = ({ second, nodes, calls, spread }: Sample): string =>
  [second, nodes, calls, ...[spread.mean, spread.p50, spread.p99, spread.max].map((each) => each.toFixed(2))]
    .map((each) => String(each).padStart(9))
    .join('');

const shownFault = ({ at, kind, count, seconds }: Fault): string =>
  `${at} s: ${kind} ${count}${seconds === undefined ? '' : ` for ${seconds} s`}`;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function tellFleet(fleet: Fleet, { faults }: FleetPlan): void {
  const { counts, samples, added } = fleet;
  console.log(faults.map(shownFault).join('; '));
  console.log(
    ['second', 'nodes', 'calls', 'mean', 'p50', 'p99', 'max'].map((each) => each.padStart(9)).join(''),
  );
  for (const sample of samples) if (sample.second % SHOWN_SECONDS === 0) console.log(shownSpread(sample));
  for (const { at, nodes, seconds = 'not' } of added)
    console.log(`${nodes} nodes added at ${at} s had their share after ${seconds} s`);
  console.log(
    `${counts.placed} calls placed, ${percent(counts.elsewhere / counts.placed)} at another node than they reached; ${counts.refused} refused; ${counts.returned} went on after their node was lost`,
  );
  console.log(
    `${counts.misplaced} began at nodes that drain or have died; these were asked ${counts.askedDraining} and ${counts.askedDead} times in vain; ${counts.looks} looks for a call`,
  );
}

const count = (each: number): string => Math.round(each).toLocaleString('en').padStart(14);

function tellLoad(loads: readonly StatementLoad[]): void {
  console.log(`${'statements/s'.padStart(14)}${'rows read/s'.padStart(14)}${'written/s'.padStart(14)}`);
  for (const { statements, reads, writes, what, source } of loads)
    console.log(`${count(statements)}${count(reads)}${count(writes)}  ${what} (${source})`);
}

function simulate(): number {
  const placed = plan('by room');
  console.log(
    `placement: seed ${placed.seed}, ${placed.nodes} nodes, ${placed.calls} calls of ${MEAN_CALL_SECONDS} s in the mean, ${percent(IN_USE)} of the machines in use`,
  );
  const fleet = new Fleet(placed).run();
  tellFleet(fleet, placed);
  const other = new Fleet(plan('balancer', COMPARED)).run();
  for (const [name, each] of [
    ['placed', fleet],
    ['by the balancer alone', other],
  ] as const)
    console.log(
      `mean of all seconds, ${name}: p99 ${meanOf(each, 'p99').toFixed(2)}, max ${meanOf(each, 'max').toFixed(2)}`,
    );
  const { seconds, nodes, calls } = fleet.sums;
  const size = { nodes: nodes / seconds, calls: calls / seconds, rate: fleet.counts.placed / seconds };
  console.log(
    `\nPostgres, with ${count(size.nodes).trim()} nodes, ${count(size.calls).trim()} calls at once, ${count(size.rate).trim()} new ones a second:`,
  );
  tellLoad(loadOn(size));
  const faults = broken(fleet);
  for (const fault of faults) console.log(`broken: ${fault}`);
  return faults.length === 0 ? 0 : 1;
}

const [what, ...sizes] = positionals;
process.exit(
  what === 'postgres'
    ? await countStatements(sizes.length > 0 ? sizes.map(Number) : [10, 100, 1000])
    : simulate(),
);
