/**
 * `npm run chaos -- cluster [NAME …]`: disturbances of a cluster under load (disturbances.ts), with what each came to for its clients
 * (report.ts; docs/operate/chaos.md). The chart is installed there, as release `speech` with two gateways, the engine `tone` and the
 * tests' key; `--calls-by livekit` and `--bucket` upgrade it to LiveKit servers with speech pods, and to a bucket (arrange.ts). Exit code 1 if a planned
 * disturbance lost a call or refused a client that keeps its connection, or if a write that was acknowledged, or the event of a call,
 * is not there.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CHECKOUT } from '../../../contracts/places.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { client, makeAgent } from '../../fixtures/platform/agents.js';
import { until } from '../../fixtures/until.js';
import { CHECKS } from '../checks.js';
import { rest, write } from '../load.js';
import { call, spoken } from '../talk.js';
import { embedded } from '../user.js';
import { World } from '../world.js';
import { eventsOf, recordingsOf, startHook } from './after.js';
import { arrange, type PartName } from './arrange.js';
import { type Disturbance, DISTURBANCES, type Need } from './disturbances.js';
import { Kube } from './kube.js';
import { keep, kept, KEPT, type Served, tryAgain } from './loads.js';
import { brokenIn, type Figures, figuresOf, lineOf, servedIn, type Span, sumOf } from './report.js';
import { RoomUser } from './room-user.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: 'http://10.96.0.80' },
    from: { type: 'string', default: '10.201.0.1' },
    entry: { type: 'string', default: 'node1' },
    scripts: { type: 'string' },
    secret: { type: 'string', default: 'speech-gateway' },
    'calls-by': { type: 'string', default: 'embedded' },
    bucket: { type: 'boolean', default: false },
    times: { type: 'string', default: '1' },
    calls: { type: 'string', default: '10' },
    clients: { type: 'string', default: '5' },
    sockets: { type: 'string', default: '10' },
    writers: { type: 'string', default: '2' },
  },
});

/** After the gateways are ready: until clients that were in trouble are out of it, or have given up. */
const CALM_MS = 20_000;
const SETTLED_MS = 60_000;

const parts: Readonly<Record<PartName, boolean>> = {
  livekit: values['calls-by'] === 'livekit',
  bucket: values.bucket,
};
const has: Readonly<Record<Need, boolean>> = { ...parts, scripts: values.scripts !== undefined };

const isWanted = ({ name }: Disturbance): boolean =>
  positionals.length === 0 || positionals.some((part) => name.includes(part));

/** Whether a call that has been broken waits for its end. */
const isOpen = (world: World): boolean =>
  world.calls.some(({ reason, returns }) => reason === null && returns.some(({ back }) => back === null));

async function befall(world: World, kube: Kube, all: Served, row: Disturbance): Promise<Span> {
  const { name, planned, make } = row;
  const before = new Map(all);
  const from = world.now();
  const broken = await make(kube)
    .then(() => kube.well())
    .then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  const ready = world.now();
  await pause(CALM_MS);
  await until('broken calls have ended', () => !isOpen(world), SETTLED_MS).catch(() => undefined);
  const served = Object.fromEntries([...all].map(([each, count]) => [each, count - (before.get(each) ?? 0)]));
  return { name, planned, from, ready, to: world.now(), served, ...(broken !== undefined && { broken }) };
}

function tell(span: Span, figures: Figures, world: World): number {
  const found = brokenIn(span, figures, KEPT);
  console.log(`${found.length > 0 ? 'FAIL' : 'PASS'} ${lineOf(span, figures)}`);
  for (const line of found) console.log(`     ${line}`);
  for (const { session, from, hungUp, reason, returns } of world.calls.filter((each) => each.to >= span.from))
    if (reason !== null && reason !== 'hangup') {
      const user = hungUp ? 'hung up' : 'was lost';
      console.log(`     ${session} of ${from} ms ${user}, ended as ${reason}: ${JSON.stringify(returns)}`);
    }
  return found.length;
}

/** The row as often as is wanted; then all of them as one. */
async function repeat(world: World, kube: Kube, all: Served, row: Disturbance): Promise<number> {
  const spans: Span[] = [];
  const figures: Figures[] = [];
  let broken = 0;
  for (let time = 0; time < Number(values.times); time += 1) {
    const span = await befall(world, kube, all, row);
    const figure = figuresOf(span, world);
    spans.push(span);
    figures.push(figure);
    broken += tell(span, figure, world);
  }
  const [first] = spans;
  if (first && spans.length > 1) {
    const sum = { ...first, name: `${row.name}, ${spans.length} times`, served: servedIn(spans) };
    console.log(`SUM  ${lineOf(sum, sumOf(figures))}`);
  }
  return broken;
}

async function startLoad(world: World, all: Served, hook: string): Promise<() => Promise<unknown>> {
  const agent = await makeAgent(client(world.base), {
    config: {
      ...{ prompt: { first_message_mode: 'off' }, conversation: { eagerness: 'eager' } },
      webhooks: { post_call: [{ url: hook }] },
    },
  });
  const words = await spoken(world.base);
  // Names of earlier runs are still there.
  const run = Date.now();
  const many = (count: string, work: (index: number) => Promise<void>) =>
    Array.from({ length: Number(count) }, (_, index) => work(index));
  const load = Promise.all([
    ...many(values.calls, () => call(world, agent, words)),
    ...many(values.clients, () => keep(world, all)),
    tryAgain(world, all),
    ...many(values.sockets, () => rest(world)),
    ...many(values.writers, (writer) => write(world, run + writer)),
  ]);
  return () => load;
}

/** Promises that are broken when the load is over. */
async function brokenAfter(world: World, ended: ReadonlyMap<string, ReadonlySet<string>>): Promise<number> {
  const unended = world.calls.filter(({ reason }) => reason === null);
  const written = CHECKS.writes({
    ...{ faults: [], writes: world.writes, kept: await kept(world.base), promised: [], received: [] },
    ...{ calls: [], failures: [], doubledItems: [], left: [] },
  });
  const lines = [
    ...written,
    ...unended.map(({ session }) => `call ${session} has not ended`),
    ...(await eventsOf(world.calls, ended)),
  ];
  for (const line of lines) console.log(`FAIL ${line}`);
  const acknowledged = world.writes.filter((each) => each.acknowledged).length;
  console.log(`writes: ${acknowledged} acknowledged of ${world.writes.length}; calls: ${world.calls.length}`);
  if (parts.bucket) {
    const states = Object.fromEntries(await recordingsOf(world.base, world.calls));
    console.log(`recordings: ${JSON.stringify(states)}`);
  }
  console.log(`${lines.length} promises broken at the end`);
  return lines.length;
}

async function chaos(): Promise<number> {
  const chart = fileURLToPath(new URL('ops/deploy/helm', CHECKOUT));
  const { entry, scripts, from: host } = values;
  const kube = new Kube({ release: 'speech', chart, entry, host, scripts });
  for (const name of ['livekit', 'bucket'] as const)
    if (parts[name]) await arrange(kube, name, values.secret, entry);
  await kube.well();
  const join = parts.livekit ? RoomUser.join : embedded({ bindAddress: host, pings: true });
  const world = new World(values.url, join, parts.bucket ? { record_audio: true } : {});
  const all: Served = new Map();
  const hook = await startHook(host);
  const loaded = await startLoad(world, all, hook.url);
  await pause(CALM_MS);
  let broken = 0;
  for (const row of DISTURBANCES.filter(isWanted)) {
    const lacks = row.needs.filter((need) => !has[need]);
    if (lacks.length > 0) console.log(`left out, needs ${lacks.join(', ')}: ${row.name}`);
    else broken += await repeat(world, kube, all, row);
  }
  world.over = true;
  await loaded();
  return broken + (await brokenAfter(world, hook.ended));
}

const found = await chaos().finally(letGo);
console.log(found === 0 ? 'chaos: all well' : `chaos: ${found} promises broken`);
process.exit(found === 0 ? 0 : 1);
