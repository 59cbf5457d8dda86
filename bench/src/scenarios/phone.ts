/** Phone calls at once, with doubles of a provider in a process of their own: the greeting, interruptions, late frames. */
import { merged, type Phase } from '../measure/phase.js';
import { percentileChart } from '../report/charts.js';
import { type Environment, TONE } from '../servers/checkout.js';
import { makeGreeter } from '../servers/destinations.js';
import { callEnvironment } from './call-load.js';
import type { Context } from './context.js';
import { converseOn, LINE_TEXTS, lineFigures, lineTask, type LineTexts } from './line-load.js';
import { scenario, type Search } from './scenario.js';

interface Variant {
  /** Begins the names of its figures. */
  readonly prefix: string;
  readonly environment: Environment;
  /** At once, and how often they are made. */
  readonly calls: number;
  readonly rounds: number;
}

interface Parameters extends LineTexts {
  readonly variants: readonly Variant[];
}

const FULL: Parameters = {
  variants: [
    { prefix: 'phone', environment: TONE, calls: 24, rounds: 1 },
    { prefix: 'phone.speech', environment: {}, calls: 4, rounds: 5 },
  ],
  ...LINE_TEXTS,
};
const QUICK: Parameters = {
  ...FULL,
  variants: [{ prefix: 'phone', environment: TONE, calls: 2, rounds: 1 }],
  listenMs: 1000,
};

/** How often the calls of one load are made at most: few of them take as long as many. */
const MOST_ROUNDS = 3;

/** So many calls at once, each with the same conversation. */
const SEARCH: Search<Parameters> = {
  unit: 'calls',
  first: 10,
  most: 2000,
  async prepare(context, parameters, server) {
    const agent = await makeGreeter(server, parameters.greeting);
    const task = await lineTask(server, agent, 'phone', 1, parameters);
    const generator = context.anotherGenerator();
    return async (load, requests) => {
      const calls = Math.max(1, Math.round(load));
      const phases: Phase[] = [];
      while (phases.length < Math.min(MOST_ROUNDS, Math.ceil(requests / calls)))
        phases.push(await converseOn(context, server, generator, `${calls} calls`, { ...task, calls }));
      return merged(phases);
    };
  },
};

async function measureVariant(context: Context, variant: Variant, parameters: Parameters): Promise<void> {
  const { prefix, environment, calls, rounds } = variant;
  const server = await context.start({ ...environment, ...(await callEnvironment(context)) });
  const agent = await makeGreeter(server, parameters.greeting);
  const task = await lineTask(server, agent, 'phone', calls, parameters);
  const generator = context.anotherGenerator();
  await converseOn(context, server, generator, `${prefix}: a call to warm up`, { ...task, calls: 1 });
  const phases: Phase[] = [];
  for (let round = 0; round < rounds; round += 1)
    phases.push(await converseOn(context, server, generator, `${prefix}: ${calls} calls`, task));
  const phase = merged(phases);
  context.add(...lineFigures(prefix, phase, { greeting: 'answer', bargeIn: 'barge_in', clear: 'clear' }));
  context.chart(
    percentileChart(`${prefix}: from the webhook to the first sound`, { gateway: phase }, 'greeting'),
  );
  await generator.stop();
  await server.stop();
}

export default scenario<Parameters>({
  name: 'phone',
  title: 'Phone calls at once: until the greeting, until an interruption clears, late frames',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    for (const variant of parameters.variants) await measureVariant(context, variant, parameters);
  },
  environment: async (context) => ({ ...TONE, ...(await callEnvironment(context)) }),
  search: SEARCH,
});
