/** Concurrent calls with recorded speech: what the caller hears, and how many calls a core carries. */
import { type Disturbance, DISTURBANCES, PAUSES, pausing, type Step } from '../calls/dialogue.js';
import { type FigureInput, latencyFigures } from '../figures.js';
import {
  doubtsIn,
  failuresIn,
  latenciesIn,
  merged,
  type Phase,
  requestsIn,
  secondsOf,
  valuesIn,
} from '../measure/phase.js';
import { percentileChart } from '../report/charts.js';
import { type Environment, TONE } from '../servers/checkout.js';
import type { Server } from '../servers/server.js';
import {
  callEnvironment,
  Callers,
  type Eagerness,
  makeListener,
  recordAll,
  type Texts,
} from './call-load.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';

type PartName = 'talking' | 'pausing' | 'eager';

interface Variant {
  /** Of its figures. */
  readonly prefix: string;
  readonly environment: Environment;
  readonly calls: number;
  readonly rounds: number;
}

interface Parameters {
  readonly variants: readonly Variant[];
  /** Until the first token of the model. */
  readonly modelMs: number;
  readonly texts: Texts;
  /** Sentences with a pause where `|` stands. */
  readonly paused: readonly string[];
  /**
   * What each caller does in each round. The parts come one after the other, each with calls of its own: an agent waits
   * longer for who has paused before.
   */
  readonly parts: Readonly<Record<PartName, readonly Step[]>>;
}

const FULL: Parameters = {
  variants: [
    { prefix: 'conversation', environment: TONE, calls: 40, rounds: 1 },
    { prefix: 'conversation.speech', environment: {}, calls: 7, rounds: 5 },
  ],
  modelMs: 150,
  texts: {
    opening: [
      'What time do you open?',
      'When do you close tonight?',
      'Are you open on Sunday?',
      'Is there a table outside?',
    ],
    travel: [
      'When does the next train leave?',
      'Where can I park my car?',
      'How long does the flight take?',
      'Which bus goes to the airport?',
    ],
    paying: [
      'How much is a ticket for two?',
      'Can I pay with my card?',
      'Do you send a bill?',
      'What is the price of a room?',
    ],
    request: [
      'I would like to book a table for four people.',
      'Please send the bill to my office.',
      'My parcel has not arrived yet.',
      'I want to change my appointment.',
      'Tell me about the weather tomorrow.',
      'I need a room for three nights.',
    ],
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
  parts: {
    talking: [
      { question: 'opening' },
      { ask: 'count', disturb: DISTURBANCES, interrupt: 'stop' },
      { question: 'travel' },
      { say: 'request' },
      { question: 'paying' },
    ],
    pausing: PAUSES.map((think) => ({ think })),
    eager: [{ question: 'opening' }, { question: 'travel' }],
  },
};
const QUICK: Parameters = {
  ...FULL,
  variants: [{ prefix: 'conversation', environment: TONE, calls: 2, rounds: 1 }],
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

interface Measured {
  readonly prefix: string;
  readonly calls: number;
  readonly server: Server;
  readonly phase: Phase;
}

const commonOf = ({ server, phase }: Measured) => ({ subject: server.name, doubts: doubtsIn(phase) });

/** A share of what was tried; none where nothing was. */
function shareFigure(measured: Measured, name: string, values: readonly number[], value: number) {
  const figure = { subject: measured.server.name, name: `${measured.prefix}.${name}`, unit: '%' };
  return values.length === 0 ? [] : [{ ...figure, n: values.length, value }];
}

function callsPerCore(measured: Measured): FigureInput[] {
  const { prefix, calls, phase } = measured;
  if (phase.cost === undefined) return [];
  const value = calls / (phase.cost.family / 1000 / secondsOf(phase));
  const name = `${prefix}.calls_per_core`;
  return [{ ...commonOf(measured), name, unit: 'calls a core', n: calls, value }];
}

function talkingFigures(measured: Measured): FigureInput[] {
  const { prefix, calls, phase } = measured;
  const common = commonOf(measured);
  const wer = valuesIn(phase, 'wer');
  const percentOfFrames = { ...common, unit: '%', n: calls };
  return [
    ...latencyFigures(`${prefix}.answer`, latenciesIn(phase, 'answer'), common),
    ...latencyFigures(`${prefix}.answer_after_interruption`, latenciesIn(phase, 'afterInterruption'), common),
    ...latencyFigures(`${prefix}.barge_in`, latenciesIn(phase, 'bargeIn'), common),
    ...Object.entries(KEPT).flatMap(([disturbance, name]) => {
      const kept = valuesIn(phase, disturbance);
      return shareFigure(measured, name, kept, share(kept));
    }),
    ...shareFigure(measured, 'wer', wer, share(wer)),
    { ...percentOfFrames, name: `${prefix}.frames.late`, value: ofFrames(phase, 'late') },
    { ...percentOfFrames, name: `${prefix}.frames.lost`, value: ofFrames(phase, 'lost') },
    ...callsPerCore(measured),
  ];
}

const pausingFigures = (measured: Measured): FigureInput[] =>
  PAUSES.flatMap((ms) => {
    const kept = valuesIn(measured.phase, pausing(ms));
    return shareFigure(measured, `cut_offs.${ms}`, kept, 100 - share(kept));
  });

const eagerFigures = (measured: Measured): FigureInput[] =>
  latencyFigures(
    `${measured.prefix}.answer_eager`,
    latenciesIn(measured.phase, 'answer'),
    commonOf(measured),
  );

interface Part {
  /** Of its agent. */
  readonly eagerness: Eagerness;
  readonly figures: (measured: Measured) => FigureInput[];
}

const PARTS: Readonly<Record<PartName, Part>> = {
  talking: { eagerness: 'balanced', figures: talkingFigures },
  pausing: { eagerness: 'balanced', figures: pausingFigures },
  eager: { eagerness: 'eager', figures: eagerFigures },
};

/** Of all parts together. */
function failureFigures(measured: Measured): FigureInput[] {
  const { prefix, server, phase } = measured;
  const counted = { subject: server.name, unit: '', n: requestsIn(phase) };
  const failures = failuresIn(phase);
  return [
    { ...counted, name: `${prefix}.unanswered`, value: failures['unanswered turn'] ?? 0 },
    { ...counted, name: `${prefix}.cut_offs`, value: failures['answered before the end'] ?? 0 },
  ];
}

async function measureVariant(
  context: Context,
  variant: Variant,
  { modelMs, texts, paused, parts }: Parameters,
): Promise<void> {
  const { prefix, environment, calls, rounds } = variant;
  const server = await context.start({ ...environment, ...(await callEnvironment(context, modelMs)) });
  const recorded = await recordAll(server, texts, paused);
  const phases: Phase[] = [];
  for (const [name, { eagerness, figures }] of Object.entries(PARTS)) {
    const steps = parts[name as PartName];
    const callers = new Callers(context, server, await makeListener(server, eagerness));
    await callers.join(calls, 4);
    const phase = await callers.converse(`${prefix}: ${calls} calls, ${name}`, steps, rounds, recorded);
    await callers.leave();
    await callers.stop();
    context.add(...figures({ prefix, calls, server, phase }));
    phases.push(phase);
  }
  context.add(...failureFigures({ prefix, calls, server, phase: merged(phases) }));
  const charted = { gateway: phases[0]! };
  context.chart(
    percentileChart(`${prefix}: the caller’s last sound to the agent’s first`, charted, 'answer'),
  );
  context.chart(percentileChart(`${prefix}: an interruption to silence`, charted, 'bargeIn'));
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
    async prepare(context, { texts, parts }, server) {
      const recorded = await recordAll(server, texts);
      const steps = parts.talking;
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
