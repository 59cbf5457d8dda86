/** Concurrent calls with recorded speech: what the caller hears, and how many calls a core carries. */
import { type Disturbance, PAUSES, pausing, type Step } from '../calls/dialogue.js';
import { type FigureInput, latencyFigures } from '../figures.js';
import {
  doubtsIn,
  failuresIn,
  latenciesIn,
  type Phase,
  requestsIn,
  secondsOf,
  valuesIn,
} from '../measure/phase.js';
import { percentileChart } from '../report/charts.js';
import { type Environment, TONE } from '../servers/checkout.js';
import type { Server } from '../servers/server.js';
import { callEnvironment, Callers, makeListener, recordAll, type Texts } from './call-load.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';

interface Variant {
  /** Of its figures. */
  readonly prefix: string;
  readonly environment: Environment;
  readonly calls: number;
  readonly rounds: number;
}

interface Parameters {
  readonly variants: readonly Variant[];
  readonly texts: Texts;
  /** Sentences with a pause where `|` stands. */
  readonly paused: readonly string[];
  /** What each caller does in each round. */
  readonly steps: readonly Step[];
}

const FULL: Parameters = {
  variants: [
    { prefix: 'conversation', environment: TONE, calls: 40, rounds: 1 },
    { prefix: 'conversation.speech', environment: {}, calls: 4, rounds: 8 },
  ],
  texts: {
    open: ['What time do you open?'],
    table: ['I would like to book a table for four people.'],
    count: ['Please count all the words.'],
    stop: ['No, stop that right now please.'],
    agree: ['Okay.', 'Yeah.', 'Right.', 'Mm-hm.', 'I see.', 'Uh-huh.', 'Yes.', 'That makes sense.'],
    others: ['Did you see where I have put my keys?'],
  },
  paused: [
    'I would like to book a table | for four people on Friday.',
    'My order has not arrived | and I need it before the weekend.',
    'Can you tell me whether | the shop is open on Sunday?',
    'I am calling about | the invoice from last month.',
    'We need two rooms | with a view of the sea.',
    'Please change my appointment | to Thursday afternoon.',
    'The number on the box is | seven four nine two.',
    'I think we could | meet at the station at noon.',
  ],
  steps: [
    { say: 'open' },
    { ask: 'count', interrupt: 'stop' },
    { say: 'table' },
    { ask: 'count', disturb: 'cough', interrupt: 'stop' },
    { ask: 'count', disturb: 'agree', interrupt: 'stop' },
    { ask: 'count', disturb: 'others', interrupt: 'stop' },
    ...PAUSES.map((think) => ({ think })),
  ],
};
const QUICK: Parameters = {
  ...FULL,
  variants: [{ prefix: 'conversation', environment: TONE, calls: 2, rounds: 1 }],
  steps: FULL.steps.slice(0, 2),
};

/** Turns of the agent that what is no interruption has not ended. */
const KEPT: Readonly<Record<Disturbance, string>> = {
  cough: 'coughs_kept',
  agree: 'backchannels_kept',
  others: 'others_kept',
};

const share = (values: readonly number[]): number =>
  (100 * values.reduce((sum, value) => sum + value, 0)) / values.length;

/** Those of one name of all rounds together, over all frames heard. */
function ofFrames(phase: Phase, name: 'late' | 'lost'): number {
  const sum = (reading: string): number =>
    valuesIn(phase, reading).reduce((total, value) => total + value, 0);
  return (100 * sum(name)) / sum('frames');
}

function figuresOf(prefix: string, calls: number, server: Server, phase: Phase): FigureInput[] {
  const common = { subject: server.name, doubts: doubtsIn(phase) };
  const counted = { subject: server.name, n: requestsIn(phase) };
  const failures = failuresIn(phase);
  const wer = valuesIn(phase, 'wer');
  const cores = phase.cost && phase.cost.family / 1000 / secondsOf(phase);
  return [
    ...latencyFigures(`${prefix}.answer`, latenciesIn(phase, 'answer'), common),
    ...latencyFigures(`${prefix}.barge_in`, latenciesIn(phase, 'bargeIn'), common),
    { ...counted, name: `${prefix}.unanswered`, unit: '', value: failures['unanswered turn'] ?? 0 },
    { ...counted, name: `${prefix}.cut_offs`, unit: '', value: failures['answered before the end'] ?? 0 },
    ...Object.entries(KEPT).flatMap(([disturbance, name]) => {
      const kept = valuesIn(phase, disturbance);
      const figure = { ...counted, name: `${prefix}.${name}`, unit: '%', n: kept.length, value: share(kept) };
      return kept.length === 0 ? [] : [figure];
    }),
    ...PAUSES.flatMap((ms) => {
      const kept = valuesIn(phase, pausing(ms));
      const figure = { ...counted, name: `${prefix}.cut_offs.${ms}`, unit: '%', n: kept.length };
      return kept.length === 0 ? [] : [{ ...figure, value: 100 - share(kept) }];
    }),
    { ...counted, name: `${prefix}.wer`, unit: '%', n: wer.length, value: share(wer) },
    { ...common, name: `${prefix}.frames.late`, unit: '%', n: calls, value: ofFrames(phase, 'late') },
    { ...common, name: `${prefix}.frames.lost`, unit: '%', n: calls, value: ofFrames(phase, 'lost') },
    ...(cores === undefined
      ? []
      : [
          {
            ...common,
            name: `${prefix}.calls_per_core`,
            unit: 'calls a core',
            n: calls,
            value: calls / cores,
          },
        ]),
  ];
}

async function measureVariant(
  context: Context,
  variant: Variant,
  { texts, paused, steps }: Parameters,
): Promise<void> {
  const { prefix, environment, calls, rounds } = variant;
  const server = await context.start({ ...environment, ...(await callEnvironment(context)) });
  const recorded = await recordAll(server, texts, paused);
  const callers = new Callers(context, server, await makeListener(server));
  await callers.join(calls, 4);
  const phase = await callers.converse(`${prefix}: ${calls} calls`, steps, rounds, recorded);
  await callers.leave();
  await callers.stop();
  context.add(...figuresOf(prefix, calls, server, phase));
  context.chart(
    percentileChart(`${prefix}: the caller’s last sound to the agent’s first`, { gateway: phase }, 'answer'),
  );
  context.chart(percentileChart(`${prefix}: an interruption to silence`, { gateway: phase }, 'bargeIn'));
  await server.stop();
}

export default scenario<Parameters>({
  name: 'conversation',
  title: 'Concurrent calls with recorded speech: heard latency, interruptions, calls a core',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    for (const variant of parameters.variants) await measureVariant(context, variant, parameters);
  },
  environment: async (context) => ({ ...TONE, ...(await callEnvironment(context)) }),
  search: {
    unit: 'calls',
    first: 5,
    most: 2000,
    async prepare(context, { texts, paused, steps }, server) {
      const recorded = await recordAll(server, texts, paused);
      const agent = await makeListener(server);
      return async (load, requests) => {
        const calls = Math.max(1, Math.round(load));
        const callers = new Callers(context, server, agent);
        await callers.join(calls, 4);
        const rounds = Math.max(1, Math.ceil(requests / (calls * steps.length)));
        const phase = await callers.converse(`${calls} calls`, steps, rounds, recorded);
        await callers.leave();
        await callers.stop();
        return phase;
      };
    },
  },
});
