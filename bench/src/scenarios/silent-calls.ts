/** Calls by socket in which nobody speaks: how many one machine holds, and what each costs in memory and processor time. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from './context.js';
import { familyMemory } from '../measure/processes.js';
import { doubtsIn, meter } from '../measure/phase.js';
import { makeAgent } from '../servers/agents.js';
import type { StartedServer } from '../servers/checkout.js';
import { readLoop, readMetrics, sumOf } from '../servers/metrics.js';
import { authorizationOf } from '../servers/server.js';
import { callEnvironment } from './call-load.js';
import { scenario } from './scenario.js';

interface Parameters {
  readonly calls: number;
  /** Time in which they are watched. */
  readonly seconds: number;
}

/** Until all calls have begun: each is written to the database. */
const BEGUN_MS = 120_000;
/** Behind that: what the beginnings have left is collected. */
const SETTLED_MS = 10_000;

const callsOf = async (server: StartedServer): Promise<number> =>
  sumOf(await readMetrics(server), 'gateway_calls');

/** One that says nothing by itself, and lets nobody go. */
const makeSilent = (server: StartedServer): Promise<string> =>
  makeAgent(server, 'Bench', {
    prompt: { first_message_mode: 'off' },
    conversation: { reengage_enabled: false, hangup_after_seconds: null },
  });

/** Waits until there are so many calls, or no more of them. */
async function begun(server: StartedServer, calls: number): Promise<void> {
  const end = performance.now() + BEGUN_MS;
  while ((await callsOf(server)) < calls && performance.now() < end) await pause(500);
  await pause(SETTLED_MS);
}

async function open(context: Context, server: StartedServer, sockets: number) {
  const { hostname: host, port } = new URL(server.origin);
  const path = `/v1/realtime?model=${await makeSilent(server)}`;
  const address = { host, port: Number(port), path, headers: authorizationOf(server) };
  const params = { open: { ...address, sockets } };
  const what = `opening ${sockets} calls`;
  return context.drive(server, what, context.generator, { program: 'realtime', params });
}

export default scenario<Parameters>({
  name: 'silent-calls',
  title: 'Open calls by socket in which nobody speaks: memory and processor time of each',
  isLocal: true,
  onlyByName: true,
  parameters: { full: { calls: 1000, seconds: 30 }, quick: { calls: 20, seconds: 2 } },
  async run(context, { calls, seconds }) {
    // With the default engines: a model listens for a voice.
    const server = await context.start(await callEnvironment(context));
    const before = familyMemory(server.pid);
    const opened = await open(context, server, calls);
    context.say('waiting until all calls have begun');
    await begun(server, calls);
    await readLoop(server);
    const cost = meter(server);
    await pause(seconds * 1000);
    const { family = Number.NaN } = cost() ?? {};
    const [loop, held, after] = [await readLoop(server), await callsOf(server), familyMemory(server.pid)];
    const common = { subject: server.name, n: calls, doubts: doubtsIn(opened) };
    context.add(
      { ...common, name: 'silent-calls.lost', unit: '', value: calls - held },
      { ...common, name: 'silent-calls.memory', unit: 'KiB', value: ((after - before) * 1024) / calls },
      { ...common, name: 'silent-calls.cpu', unit: '% of a core', value: family / (10 * seconds * calls) },
      { ...common, name: 'silent-calls.loop', unit: 'ms', value: loop.p99 },
    );
  },
});
