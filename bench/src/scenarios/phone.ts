/** Phone calls at once, with doubles of a provider in a process of their own: the greeting, interruptions, late frames. */
import { type FigureInput, medianFigures } from '../figures.js';
import {
  doubtsIn,
  failedIn,
  latenciesIn,
  merged,
  type Phase,
  requestsIn,
  valuesIn,
} from '../measure/phase.js';
import type { PhoneTask } from '../programs/phone.js';
import { percentileChart } from '../report/charts.js';
import { callPlatform, makeAgent } from '../servers/agents.js';
import { type Environment, TONE } from '../servers/checkout.js';
import type { Server } from '../servers/server.js';
import { callEnvironment, record } from './call-load.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';

interface Variant {
  /** Begins the names of its figures. */
  readonly prefix: string;
  readonly environment: Environment;
  /** At once, and how often they are made. */
  readonly calls: number;
  readonly rounds: number;
}

interface Parameters {
  readonly variants: readonly Variant[];
  readonly greeting: string;
  readonly ask: string;
  readonly interrupt: string;
  readonly spreadMs: number;
  readonly listenMs: number;
}

const FULL: Parameters = {
  variants: [
    { prefix: 'phone', environment: TONE, calls: 24, rounds: 1 },
    { prefix: 'phone.speech', environment: {}, calls: 4, rounds: 5 },
  ],
  greeting: 'Hello.',
  ask: 'Please count all the words.',
  interrupt: 'No, stop that right now please.',
  spreadMs: 4000,
  listenMs: 5000,
};
const QUICK: Parameters = {
  ...FULL,
  variants: [{ prefix: 'phone', environment: TONE, calls: 2, rounds: 1 }],
  listenMs: 1000,
};

/** Hz of a telephone. */
const RATE = 8000;
const SECRET = 'bench-secret-of-the-provider';

/** A number that an agent answers, who says the greeting first. */
async function dialledAt(server: Server, greeting: string): Promise<PhoneTask['dialled']> {
  const agent = await makeAgent(server, 'Bench', {
    prompt: { first_message_mode: 'fixed', first_message: greeting },
    conversation: { eagerness: 'balanced', interruption_sensitivity: 'balanced' },
  });
  const number = '+493012345678';
  const { answer_url: answerUrl } = await callPlatform<{ answer_url: string }>(server, 'phone-numbers', {
    provider: 'twilio',
    phone_number: number,
    agent_id: agent,
    credentials: { auth_token: SECRET },
  });
  return { answerUrl, number, secret: SECRET };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function figuresOf(prefix: string, phase: Phase): FigureInput[] {
  const common = { subject: 'gateway', doubts: doubtsIn(phase) };
  const frames = sum(valuesIn(phase, 'frames'));
  const late = (100 * sum(valuesIn(phase, 'late'))) / frames;
  return [
    ...medianFigures(`${prefix}.answer`, latenciesIn(phase, 'answer'), common),
    ...medianFigures(`${prefix}.barge_in`, latenciesIn(phase, 'bargeIn'), common),
    ...medianFigures(`${prefix}.clear`, latenciesIn(phase, 'clear'), common),
    { ...common, name: `${prefix}.frames.late`, unit: '%', n: frames, value: late },
    { ...common, name: `${prefix}.failed`, unit: '', n: requestsIn(phase), value: failedIn(phase) },
  ];
}

async function measureVariant(context: Context, variant: Variant, parameters: Parameters): Promise<void> {
  const { prefix, environment, calls, rounds } = variant;
  const { greeting, ask, interrupt, spreadMs, listenMs } = parameters;
  const server = await context.start({ ...environment, ...(await callEnvironment(context)) });
  const task: PhoneTask = {
    dialled: await dialledAt(server, greeting),
    calls,
    spreadMs,
    listenMs,
    ask: await record(server, ask, RATE),
    interrupt: await record(server, interrupt, RATE),
  };
  const generator = context.anotherGenerator();
  const load = (what: string, params: PhoneTask): Promise<Phase> =>
    context.drive(server, what, generator, { program: 'phone', params });
  await load(`${prefix}: a call to warm up`, { ...task, calls: 1 });
  const phases: Phase[] = [];
  for (let round = 0; round < rounds; round += 1) phases.push(await load(`${prefix}: ${calls} calls`, task));
  const phase = merged(phases);
  context.add(...figuresOf(prefix, phase));
  context.chart(
    percentileChart(`${prefix}: from the webhook to the first sound`, { gateway: phase }, 'answer'),
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
});
