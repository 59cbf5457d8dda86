/**
 * Calls by the socket of an agent's client beside calls by telephone, in turns and with the same conversation: what a call costs, and
 * how soon the agent answers and falls silent.
 */
import type { DoorName } from '../../calls/doors.js';
import type { FigureInput } from '../../figures.js';
import { doubtsIn, interleaved, type Phase, requestsIn } from '../../measure/phase.js';
import { TONE } from '../../servers/checkout.js';
import { makeGreeter } from '../../servers/destinations.js';
import { callEnvironment } from '../call-load.js';
import type { Context } from '../context.js';
import { converseOn, LINE_TEXTS, lineFigures, lineTask, type LineTexts } from '../line-load.js';

interface DoorTrials extends LineTexts {
  /** At once, and how often by each way. */
  readonly calls: number;
  readonly rounds: number;
}

const FULL: DoorTrials = { ...LINE_TEXTS, calls: 20, rounds: 3 };
const QUICK: DoorTrials = { ...FULL, calls: 2, rounds: 1, listenMs: 1000 };

/** Names of `--door`: telephones are what these are held against. */
export const OTHER_DOORS = ['realtime', 'elevenlabs'] as const satisfies readonly DoorName[];
export type OtherDoor = (typeof OTHER_DOORS)[number];

const BASELINE = 'the same calls by telephone';

/** Milliseconds of all processes of the server for each call. */
const costOf = (phase: Phase): number => (phase.cost?.family ?? Number.NaN) / requestsIn(phase);

function figuresOf(prefix: string, phase: Phase, phones: Phase): FigureInput[] {
  const cost = {
    ...{ name: `${prefix}.cpu`, subject: 'gateway', unit: 'ms', n: requestsIn(phase), value: costOf(phase) },
    doubts: doubtsIn(phase, phones),
    baseline: { name: BASELINE, value: costOf(phones) },
  };
  const named = { greeting: 'greeting', answer: 'answer', bargeIn: 'barge_in', clear: 'clear' };
  return [cost, ...lineFigures(prefix, phase, named)];
}

/** Adds its figures. */
export async function measureDoor(context: Context, door: OtherDoor): Promise<void> {
  const trials = context.options.isQuick ? QUICK : FULL;
  const { calls, rounds, greeting } = trials;
  const server = await context.start({ ...TONE, ...(await callEnvironment(context)) });
  const agent = await makeGreeter(server, greeting);
  const tasks = {
    phone: await lineTask(server, agent, 'phone', calls, trials),
    [door]: await lineTask(server, agent, door, calls, trials),
  };
  const generator = context.anotherGenerator();
  const converse = (subject: string): Promise<Phase> =>
    converseOn(context, server, generator, `${calls} calls by ${subject}`, tasks[subject]!);
  const subjects = Object.keys(tasks);
  // The first calls of each way are those for which code is compiled.
  for (const subject of subjects) await converse(subject);
  const phases = await interleaved(subjects, rounds, converse);
  const [phones, others] = ['phone', door].map((subject) => phases.get(subject));
  context.add(...figuresOf(`conversation.${door}`, others!, phones!));
  context.add(
    ...lineFigures(`conversation.${door}.by_phone`, phones!, { answer: 'answer', bargeIn: 'barge_in' }),
  );
  await generator.stop();
  await server.stop();
}
