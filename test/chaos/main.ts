/**
 * `npm run chaos -- [minutes] [--calls=20] [--sockets=200] [--deliveries=20] [--faults=kill,…]`: three nodes on one Postgres behind a balancer.
 * First a rolling upgrade under load (with 0 minutes nothing else), then one fault after the other for the given minutes. Then the
 * clients' recordings, the database and leftovers on the machine are checked (checks.ts). Exit code 1
 * if a check fails.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeAgent, client } from '../fixtures/platform/agents.js';
import { startReceiver } from '../fixtures/platform/receiver.js';
import { until } from '../fixtures/until.js';
import type { Sql } from '../../storage/postgres/sql.js';
import type { Balancer } from './balancer.js';
import { countsOf, violations } from './checks.js';
import { letGoOfAll, run, startCluster } from './cluster.js';
import { leftInRows, leftOnMachine } from './left.js';
import { listen, promise, rest, write, WRITTEN } from './load.js';
import type { ChaosNode } from './nodes.js';
import { FAULT_KINDS, type CallRecord, type Delivered, type FaultKind, type Recorded } from './record.js';
import { call, spoken } from './talk.js';
import { World } from './world.js';

const NODES = 3;
const WRITERS = 4;
const LISTENERS = 2;
const CALM_MS = 4000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    calls: { type: 'string', default: '20' },
    sockets: { type: 'string', default: '200' },
    deliveries: { type: 'string', default: '20' },
    faults: { type: 'string', default: FAULT_KINDS.join() },
  },
});
const minutes = Number(positionals[0] ?? 5);
const kinds = FAULT_KINDS.filter((kind) => values.faults.split(',').includes(kind));

async function befall(world: World, balancer: Balancer, node: ChaosNode, kind: FaultKind): Promise<void> {
  const fault = { kind, node: node.name, from: world.now(), to: Infinity };
  world.faults.push(fault);
  console.log(`${Math.round(fault.from / 1000)} s: ${kind} ${node.name}`);
  await node.suffer(kind);
  await until(`${node.name} is back`, () => balancer.isReady(node.port), 120_000);
  fault.to = world.now();
  await pause(CALM_MS);
}

/** A rolling upgrade, which no client may notice; then all faults in turn. */
async function wreak(world: World, balancer: Balancer, nodes: readonly ChaosNode[]): Promise<void> {
  await pause(CALM_MS);
  for (const node of nodes) await befall(world, balancer, node, 'drain');
  const end = world.now() + minutes * 60_000;
  for (let turn = 0; world.now() < end; turn += 1) {
    const node = nodes[turn % nodes.length]!;
    await befall(world, balancer, node, kinds[turn % kinds.length]!);
  }
}

const keptOf = async (sql: Sql): Promise<string[]> =>
  (await sql<{ name: string }[]>`select name from agents where starts_with(name, ${WRITTEN})`).map(
    ({ name }) => name,
  );

const doubledIn = async (sql: Sql): Promise<string[]> =>
  (
    await sql<{ item: string }[]>`
      select session_id || ' ' || turn_id || ' ' || type as item from session_items
      group by session_id, turn_id, type, created_at, content having count(*) > 1`
  ).map(({ item }) => item);

/** The outcome of calls that had not ended when their callers gave up. */
async function tellOfOpen(sql: Sql, calls: readonly CallRecord[]): Promise<void> {
  const ids = calls.filter(({ reason }) => reason === null).map(({ session }) => session);
  const rows = await sql`
    select id, status, ended_reason, started_at, ended_at, lost_at, owner_id from sessions where id = any(${ids}::text[])`;
  for (const row of rows) console.log(JSON.stringify(row));
}

function deliveredOf(seen: readonly { readonly body: string }[]): Delivered[] {
  const all = seen.map(({ body }) => ({
    id: String((JSON.parse(body) as { session_id: string }).session_id),
    body,
  }));
  return all.filter(({ id }) => id.startsWith('chaos_'));
}

/** The last fault before the call ended. */
const faultBefore = ({ faults }: Recorded, { to }: CallRecord): string =>
  faults.findLast(({ from }) => from < to)?.kind ?? 'none';

function summary(recorded: Recorded): void {
  const told = countsOf(recorded.failures.map((failure) => String(failure.told)));
  const of = (name: string | null) => recorded.calls.filter(({ reason }) => reason === name).length;
  const answers = recorded.calls.reduce((total, one) => total + one.answers, 0);
  const returns = recorded.calls.flatMap((one) => one.returns);
  console.log(`faults: ${recorded.faults.length}`);
  console.log(
    `writes: ${recorded.writes.filter(({ acknowledged }) => acknowledged).length} acknowledged of ${recorded.writes.length}`,
  );
  console.log(`deliveries: ${recorded.promised.length} promised, ${recorded.received.length} received`);
  console.log(
    `calls: ${recorded.calls.length}, answers ${answers}, returns ${returns.length} (${returns.filter(({ why }) => why === 'unanswered').length} unanswered, ${returns.filter(({ back }) => back === null).length} in vain), hung up ${of('hangup')}, failed ${of('error')}`,
  );
  const lost = countsOf(
    recorded.calls.filter(({ reason }) => reason === 'error').map((one) => faultBefore(recorded, one)),
  );
  console.log(`failed calls by the last fault before: ${JSON.stringify(Object.fromEntries(lost))}`);
  for (const { session, returns } of recorded.calls)
    for (const { at, why, refusals, back } of returns)
      if (back === null) console.log(`${session} was ${why} at ${at}, and did not come back: ${refusals}`);
  console.log(`clients were told: ${JSON.stringify(Object.fromEntries(told))}`);
}

async function chaos(): Promise<readonly string[]> {
  const { postgres, nodes, balancer } = await startCluster(NODES, values.calls);
  const { sql } = await postgres.open();
  const receiver = await startReceiver(run);
  const world = new World(balancer.base);
  const agent = await makeAgent(client(balancer.base), {
    config: { prompt: { first_message_mode: 'off' }, conversation: { eagerness: 'eager' } },
  });
  const words = await spoken(balancer.base);
  const many = (count: number | string, work: (index: number) => Promise<void>) =>
    Array.from({ length: Number(count) }, (_, index) => work(index));
  const load = Promise.all([
    ...many(WRITERS, (writer) => write(world, writer)),
    ...many(LISTENERS, () => listen(world)),
    ...many(values.sockets, () => rest(world)),
    ...many(values.calls, () => call(world, agent, words)),
  ]);
  const promised = promise(world, sql, receiver.url, Number(values.deliveries));
  await wreak(world, balancer, nodes);
  world.over = true;
  await load;
  const allPromised = await promised;
  const inRows = await leftInRows(sql);
  const [kept, doubledItems] = [await keptOf(sql), await doubledIn(sql)];
  await tellOfOpen(sql, world.calls);
  for (const node of nodes) await node.stop();
  const recorded: Recorded = {
    ...{ faults: world.faults, writes: world.writes, calls: world.calls, failures: world.failures },
    ...{ kept, doubledItems, promised: allPromised, received: deliveredOf(receiver.seen) },
    left: [...inRows, ...leftOnMachine(nodes)],
  };
  summary(recorded);
  console.log(`texts spoken whole: ${world.heard}`);
  return violations(recorded);
}

let found: readonly string[];
try {
  found = await chaos();
} finally {
  await letGoOfAll();
}
for (const line of found) console.log(line);
console.log(found.length === 0 ? 'chaos: all well' : `chaos: ${found.length} violations`);
process.exit(found.length === 0 ? 0 : 1);
