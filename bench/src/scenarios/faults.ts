/** A process is killed under load: how many requests fail, and for how long. */
import { setTimeout as pause } from 'node:timers/promises';
import { failedIn, type Phase, doubtsIn, requestsIn } from '../measure/phase.js';
import { membersOf } from '../measure/processes.js';
import { timeChart } from '../report/charts.js';
import type { Environment, StartedServer } from '../servers/checkout.js';
import { freePort } from '../servers/free-port.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { speechOf } from './speech/speech-request.js';

interface Fault {
  readonly name: string;
  /** Words of the command line of those that may be killed; one of them is. */
  readonly victim: string;
  readonly environment: Environment;
}

interface Parameters {
  readonly text: string;
  readonly rate: number;
  readonly seconds: number;
  /** Seconds from the beginning of the load. */
  readonly killAt: number;
  readonly faults: readonly Fault[];
}

const FULL: Parameters = {
  text: 'Good morning.',
  rate: 5,
  seconds: 10,
  killAt: 3,
  faults: [
    { name: 'synthesis', victim: 'workers/speech.js tts', environment: {} },
    { name: 'encode', victim: 'workers/encode', environment: {} },
    { name: 'postgres', victim: 'bin/postgres -D', environment: {} },
    { name: 'gateway', victim: 'workers/gateway', environment: { WORKERS: '2' } },
  ],
};
const QUICK: Parameters = { ...FULL, seconds: 6, killAt: 2, faults: FULL.faults.slice(0, 2) };

function kill({ pid }: StartedServer, { name, victim }: Fault): void {
  const [first] = membersOf(pid, victim);
  if (first === undefined) throw new Error(`there is no process of ${name} to kill`);
  process.kill(first, 'SIGKILL');
}

/** Milliseconds from the kill until the last request was due that failed; 0 where none did. */
export function recoveryOf({ outcomes }: Phase, killedAt: number): number {
  const failed = outcomes.flatMap(({ due, readings }) =>
    [...due].filter((_, index) => Number.isNaN(readings['e2e']?.[index] ?? Number.NaN)),
  );
  return Math.max(0, ...failed.map((due) => due - killedAt));
}

async function measureFault(context: Context, fault: Fault, parameters: Parameters): Promise<void> {
  const { text, rate, seconds, killAt } = parameters;
  const several = 'WORKERS' in fault.environment ? { PORT: String(await freePort()) } : {};
  const server = await context.start({ ...fault.environment, ...several });
  const params = speechOf(server, { dialect: 'native', format: 'mp3', text }, context.options);
  await context.load(server, 'warm-up', 'speech', params, { concurrency: 1, requests: 5 });
  const loaded = context.load(server, `${fault.name} is killed`, 'speech', params, {
    arrivals: { kind: 'constant', rate, seconds },
  });
  await Promise.race([pause(killAt * 1000), loaded]);
  kill(server, fault);
  const phase = await loaded;
  const common = { subject: server.name, n: requestsIn(phase) };
  context.add(
    { ...common, name: `faults.${fault.name}.failed`, unit: '', value: failedIn(phase) },
    {
      ...common,
      name: `faults.${fault.name}.recovery`,
      unit: 'ms',
      value: recoveryOf(phase, killAt * 1000),
      doubts: doubtsIn(phase),
    },
  );
  context.chart(timeChart(`faults: ${fault.name} is killed at ${killAt} s`, phase, 'ttfa'));
  await server.stop();
}

export default scenario<Parameters>({
  name: 'faults',
  title: 'A process is killed under load: errors, and time to recover',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    for (const fault of parameters.faults) await measureFault(context, fault, parameters);
  },
});
