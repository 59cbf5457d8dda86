/** A short text's first audio alone, and beside another workspace's flood of long ones, through the default engines. */
import { setTimeout as pause } from 'node:timers/promises';
import { doubtsIn, failedIn, latenciesIn, type Phase, requestsIn } from '../measure/phase.js';
import { percentileChart } from '../report/charts.js';
import type { StartedServer } from '../servers/checkout.js';
import { makeWorkspace } from '../servers/workspaces.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { speechOf } from './speech/speech-request.js';

interface Parameters {
  readonly short: string;
  readonly long: string;
  readonly longTexts: number;
  /** Short requests a second, and for how long. */
  readonly rate: number;
  readonly seconds: number;
}

const SENTENCE = 'The harbour was quiet that morning, and nobody saw the small boat leave the pier. ';
const FULL: Parameters = {
  short: 'Your parcel has left our house, and will be there on Monday.',
  long: SENTENCE.repeat(25).slice(0, 2000),
  longTexts: 50,
  rate: 1,
  seconds: 25,
};

/** The flood is under way by then. */
const FLOODED_MS = 1000;
const FLOOD_DEADLINE_MS = 600_000;
/** The latency that the caller asks for is the shortest. */
const FORMAT = { dialect: 'native', format: 'mp3' } as const;

function shortTexts(
  context: Context,
  server: StartedServer,
  { short, rate, seconds }: Parameters,
  what: string,
): Promise<Phase> {
  const params = speechOf(server, { ...FORMAT, text: short, latency: 'low' }, context.options);
  return context.load(server, what, 'speech', params, { arrivals: { kind: 'constant', rate, seconds } });
}

/** Ends with its generator; its requests have no end of their own. */
async function flood(context: Context, server: StartedServer, key: string, { long, longTexts }: Parameters) {
  const generator = context.anotherGenerator();
  const params = speechOf({ ...server, key }, { ...FORMAT, text: long }, context.options);
  const task = {
    client: 'speech',
    params,
    load: { concurrency: longTexts, requests: 1_000_000 },
    deadline: FLOOD_DEADLINE_MS,
  };
  const ended = generator.run(task).catch(() => undefined);
  await pause(FLOODED_MS);
  return async (): Promise<void> => {
    await generator.stop();
    await ended;
  };
}

function report(context: Context, alone: Phase, beside: Phase): void {
  const doubts = doubtsIn(alone, beside);
  const common = { subject: 'gateway', n: requestsIn(beside) };
  const [own, other] = [
    latenciesIn(beside, 'ttfa').percentile(50),
    latenciesIn(alone, 'ttfa').percentile(50),
  ];
  const baseline = 'value' in other ? { name: 'the same alone', value: other.value } : undefined;
  const reading = 'value' in own ? { value: own.value } : { value: null, withheld: own.withheld };
  context.add(
    { ...common, name: 'fairness.ttfa', unit: 'ms', ...reading, baseline, doubts },
    { ...common, name: 'fairness.longest', unit: 'ms', value: latenciesIn(beside, 'ttfa').max, doubts },
    { ...common, name: 'fairness.failed', unit: '', value: failedIn(beside) },
  );
  context.chart(
    percentileChart('fairness: first audio of a short text', { alone, 'beside the flood': beside }, 'ttfa'),
  );
}

export default scenario<Parameters>({
  name: 'fairness',
  title: 'First audio of a short text, beside another workspace’s flood of long ones',
  isLocal: true,
  parameters: { full: FULL, quick: { ...FULL, longTexts: 5, seconds: 3 } },
  async run(context, parameters) {
    const server = await context.start({});
    const key = await makeWorkspace(context.options.checkout ?? '', server.dataDir, 'Other');
    await shortTexts(context, server, { ...parameters, seconds: 2 }, 'warm-up');
    const alone = await shortTexts(context, server, parameters, 'alone');
    const stop = await flood(context, server, key, parameters);
    const beside = await shortTexts(context, server, parameters, 'beside the flood');
    await stop();
    report(context, alone, beside);
  },
});
