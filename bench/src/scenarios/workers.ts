/** Requests of speech that one gateway process answers, and two: whether a second one is worth a second core. */
import { doubtsIn, merged, type Phase, requestsIn, throughputOf } from '../measure/phase.js';
import { cpuOf, membersOf } from '../measure/processes.js';
import { type StartedServer, TONE } from '../servers/checkout.js';
import { freePort } from '../servers/free-port.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { speechOf } from './speech/speech-request.js';

interface Parameters {
  readonly text: string;
  readonly connections: number;
  readonly seconds: number;
  readonly rounds: number;
}

const FULL: Parameters = { text: 'A second of tones.', connections: 32, seconds: 4, rounds: 4 };

interface Measured {
  readonly phase: Phase;
  /** Milliseconds of CPU of each gateway process. */
  readonly cpu: readonly number[];
}

/** The processes that answer: the children, or the supervisor itself where it is the only one. */
function gatewaysOf({ pid }: StartedServer): number[] {
  const children = membersOf(pid, 'workers/gateway');
  return children.length > 0 ? children : [pid];
}

async function measureOnce(
  context: Context,
  server: StartedServer,
  { text, connections, seconds }: Parameters,
  what: string,
): Promise<Measured> {
  const params = speechOf(server, { dialect: 'native', format: 'pcm', text }, context.options);
  const gateways = gatewaysOf(server);
  const before = gateways.map(cpuOf);
  const phase = await context.load(server, what, 'speech', params, { concurrency: connections, seconds });
  return { phase, cpu: gateways.map((pid, index) => cpuOf(pid) - (before[index] ?? 0)) };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Requests that a second of CPU of the gateway's processes answers, whoever else needs the cores. */
const perSecond = (rounds: readonly Measured[]): number =>
  sum(rounds.map(({ phase }) => requestsIn(phase))) / (sum(rounds.flatMap(({ cpu }) => cpu)) / 1000);

function report(context: Context, one: readonly Measured[], two: readonly Measured[]): void {
  const phases = { one: merged(one.map(({ phase }) => phase)), two: merged(two.map(({ phase }) => phase)) };
  const common = { subject: 'gateway', n: requestsIn(phases.two), doubts: doubtsIn(phases.one, phases.two) };
  const busiest = sum(two.map(({ cpu }) => Math.max(...cpu))) / sum(two.flatMap(({ cpu }) => cpu));
  context.add(
    // Two processes with the work of the busier one: what they would answer had each a core of its own.
    { ...common, name: 'workers.scaling', unit: '×', value: perSecond(two) / perSecond(one) / busiest },
    { ...common, name: 'workers.busiest', unit: 'share', value: busiest },
    {
      ...common,
      name: 'workers.throughput',
      unit: 'requests/s',
      value: throughputOf(phases.two),
      baseline: { name: 'one gateway process', value: throughputOf(phases.one) },
    },
  );
}

export default scenario<Parameters>({
  name: 'workers',
  title: 'Requests of speech that two gateway processes answer, against one',
  isLocal: true,
  parameters: { full: FULL, quick: { ...FULL, seconds: 1, rounds: 1 } },
  async run(context, parameters) {
    const two = { ...TONE, WORKERS: '2', PORT: String(await freePort()) };
    const servers = { one: await context.start(TONE), two: await context.start(two) };
    const rounds: Record<keyof typeof servers, Measured[]> = { one: [], two: [] };
    for (const name of ['one', 'two'] as const)
      await measureOnce(context, servers[name], { ...parameters, seconds: 1 }, 'warm-up');
    for (let round = 0; round < parameters.rounds; round += 1)
      for (const name of ['one', 'two'] as const)
        rounds[name].push(
          await measureOnce(
            context,
            servers[name],
            parameters,
            `${name} gateway process${name === 'one' ? '' : 'es'}`,
          ),
        );
    report(context, rounds.one, rounds.two);
  },
});
