/**
 * What a fleet asks of its Postgres: each statement that gateways send by themselves, and those of a call, with where it is made. The
 * numbers of a call and of an idle process are those that Postgres has counted (postgres.ts, which compares).
 */
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { ELDERS, LOOK_MS, SELDOM } from '../../../storage/nodes.js';
import { CLEAN_MS, SWEEP_MS } from '../../../storage/sessions/runs.js';

const SECOND = 1000;
/** Turns of a call of three minutes. */
const TURNS = 12;

export interface FleetSize {
  readonly nodes: number;
  /** That run at once. */
  readonly calls: number;
  /** That begin in a second. */
  readonly rate: number;
}

interface Statements {
  readonly what: string;
  readonly source: string;
  /** Of each process, so often. */
  readonly everyMs?: number;
  /** The processes that send it so often. Default: all. */
  readonly by?: (size: FleetSize) => number;
  /** Of each call, so many. */
  readonly perCall?: number;
  /** Statements at a time. */
  readonly count?: number;
  /** Rows that one of them reads and writes. */
  readonly reads?: (size: FleetSize) => number;
  readonly writes?: (size: FleetSize) => number;
}

const ownCalls = ({ calls, nodes }: FleetSize): number => calls / nodes;
export const allNodes = ({ nodes }: Pick<FleetSize, 'nodes'>): number => nodes;
const allCalls = ({ calls }: FleetSize): number => calls;
const one = (): number => 1;
/** The oldest ones, and each other one now and then (storage/nodes.ts `shared`). */
export const few = ({ nodes }: Pick<FleetSize, 'nodes'>): number =>
  nodes <= ELDERS ? nodes : ELDERS + (nodes - ELDERS) / Math.max(SELDOM, nodes);

export const STATEMENTS: readonly Statements[] = [
  {
    ...{ what: 'heartbeat', source: 'storage/nodes.ts #renew' },
    ...{ everyMs: CALL_TIMES.heartbeatMs, reads: one, writes: one },
  },
  {
    ...{ what: 'nodes that have died', source: 'storage/nodes.ts dropDead' },
    ...{ everyMs: LOOK_MS, by: few, reads: allNodes },
  },
  {
    ...{ what: 'calls without a node', source: 'storage/nodes.ts dropDead' },
    ...{ everyMs: LOOK_MS, by: few, reads: allCalls },
  },
  {
    ...{ what: 'what other nodes tell', source: 'storage/nodes.ts list' },
    ...{ everyMs: LOOK_MS, reads: allNodes },
  },
  {
    ...{ what: 'overdue sessions', source: 'storage/sessions/sweep.ts overdue' },
    ...{ everyMs: SWEEP_MS, by: few, reads: allCalls },
  },
  {
    ...{ what: 'how long calls have lasted', source: 'storage/sessions/runs.ts noteLasted' },
    ...{ everyMs: SWEEP_MS, reads: ownCalls, writes: ownCalls },
  },
  {
    ...{ what: 'old rows', source: 'storage/sessions/sweep.ts removeOld' },
    ...{ everyMs: CLEAN_MS, by: few, count: 7 },
  },
  {
    ...{ what: 'words that were said', source: 'storage/sessions/said.ts keepSaid' },
    ...{ everyMs: SWEEP_MS, count: 3 },
  },
  { what: 'outbox', source: 'storage/deliveries/take.ts isDue', everyMs: SECOND },
  { what: 'analyses', source: 'storage/sessions/analyses.ts', everyMs: SECOND },
  { what: 'whether it answers', source: 'gateway/wiring/children.ts watch', everyMs: 2 * SECOND },
  {
    what: 'deliveries that are sent again',
    source: 'storage/deliveries/redeliveries.ts',
    everyMs: 2 * SECOND,
  },
  { what: 'deliveries that wait', source: 'gateway/agents/deliveries/upkeep.ts', everyMs: 7.5 * SECOND },
  { what: 'placed calls', source: 'gateway/agents/phone/placing.ts sweep', everyMs: 5 * SECOND },
  { what: 'transfers', source: 'gateway/agents/phone/transferring.ts sweep', everyMs: 5 * SECOND },
  { what: 'tests', source: 'storage/agent-tests/queue.ts', everyMs: 5 * SECOND },
  {
    ...{ what: 'a call: session, join, end, analysis', source: 'storage/sessions.ts, storage/sessions/' },
    ...{ perCall: 25, writes: () => 0.3 },
  },
  {
    ...{ what: 'its turns', source: 'storage/sessions/turns.ts, items.ts, storage/usage.ts' },
    ...{ perCall: 5 * TURNS, writes: one },
  },
];

export interface StatementLoad {
  readonly what: string;
  readonly source: string;
  /** In a second, of the whole fleet. */
  readonly statements: number;
  readonly reads: number;
  readonly writes: number;
}

const none = (): number => 0;

function loadOf(row: Statements, size: FleetSize): StatementLoad {
  const { what, source, everyMs, by = allNodes, perCall = 0, count = 1, reads = none, writes = none } = row;
  const times = (everyMs === undefined ? 0 : (by(size) * 1000) / everyMs) + perCall * size.rate;
  return {
    ...{ what, source, statements: times * count, reads: times * reads(size), writes: times * writes(size) },
  };
}

/** Each of them, and the sum. */
export function loadOn(size: FleetSize): readonly StatementLoad[] {
  const loads = STATEMENTS.map((row) => loadOf(row, size));
  const sum = (part: 'statements' | 'reads' | 'writes'): number =>
    loads.reduce((all, each) => all + each[part], 0);
  const all = { statements: sum('statements'), reads: sum('reads'), writes: sum('writes') };
  return [...loads, { what: 'all', source: `${Math.round(size.nodes)} processes`, ...all }];
}
