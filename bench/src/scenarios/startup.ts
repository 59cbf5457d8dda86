/** From the start of the process until it is ready, and the memory of all its processes when it has nothing to do. */
import { median } from '../histogram.js';
import { startBareHttp } from '../baselines/baseline.js';
import { familyMemory } from '../measure/processes.js';
import { doubtsOf } from '../measure/doubts.js';
import { watchMachine } from '../measure/machine.js';
import { scenario } from './scenario.js';
import type { Context } from './context.js';
import { recordAnswer, speechOf } from './speech/speech-request.js';

interface Parameters {
  readonly rounds: number;
}

/** The engines that a user gets who sets none. */
const DEFAULTS = {};

interface Round {
  readonly ready: number;
  readonly bare: number;
  /** MB before and after the first speech. */
  readonly fresh: number;
  readonly spoken: number;
}

async function bareStart(context: Context): Promise<number> {
  const begun = performance.now();
  const server = context.own(await startBareHttp(Buffer.from('ok'), 'text/plain'));
  const took = performance.now() - begun;
  await server.stop();
  return took;
}

async function measureOnce(context: Context): Promise<Round> {
  const bare = await bareStart(context);
  const server = await context.start(DEFAULTS);
  const fresh = familyMemory(server.pid);
  await recordAnswer(speechOf(server, { dialect: 'native', format: 'mp3', text: 'Hello.' }, context.options));
  const spoken = familyMemory(server.pid);
  await server.stop();
  return { ready: server.startedIn, bare, fresh, spoken };
}

export default scenario<Parameters>({
  name: 'startup',
  title: 'From start to ready, with an embedded database that is made anew; memory when idle',
  isLocal: true,
  parameters: { full: { rounds: 5 }, quick: { rounds: 1 } },
  async run(context, { rounds }) {
    const elsewhere = watchMachine();
    const measured: Round[] = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measureOnce(context));
    const of = (pick: (round: Round) => number): number => median(measured.map(pick));
    const common = { subject: 'gateway', n: rounds };
    const doubts = doubtsOf({ generatorCpu: Number.NaN, lateness: Number.NaN, ...elsewhere() });
    const baseline = { name: 'a bare server’s start', value: of(({ bare }) => bare) };
    context.add(
      { ...common, name: 'startup.ready', unit: 'ms', value: of(({ ready }) => ready), baseline, doubts },
      { ...common, name: 'memory.idle', unit: 'MB', value: of(({ spoken }) => spoken) },
      { ...common, name: 'memory.fresh', unit: 'MB', value: of(({ fresh }) => fresh) },
    );
  },
});
