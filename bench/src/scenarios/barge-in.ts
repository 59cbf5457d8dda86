/**
 * Interruptions on a busy machine: the same calls by telephone and by the sockets of agents' clients, idle and beside processes that
 * keep all cores busy; how many agents were interrupted within ten seconds, and how soon.
 */
import type { DoorName } from '../calls/doors.js';
import type { FigureInput } from '../figures.js';
import { failuresIn, interleaved, latenciesIn, type Phase, requestsIn } from '../measure/phase.js';
import { medianFigures } from '../figures.js';
import { NOT_INTERRUPTED } from '../programs/lines.js';
import { TONE } from '../servers/checkout.js';
import { makeGreeter } from '../servers/destinations.js';
import { Spinners } from '../servers/spinners.js';
import { callEnvironment } from './call-load.js';
import type { Context } from './context.js';
import { converseOn, LINE_TEXTS, lineTask, type LineTexts } from './line-load.js';
import { scenario } from './scenario.js';

interface Parameters extends LineTexts {
  readonly doors: readonly DoorName[];
  readonly calls: number;
  readonly rounds: number;
  /** Processes that do nothing but use a core. */
  readonly spinners: number;
}

const FULL: Parameters = {
  ...LINE_TEXTS,
  doors: ['phone', 'realtime', 'elevenlabs'],
  calls: 20,
  rounds: 2,
  spinners: 4,
};
const QUICK: Parameters = { ...FULL, calls: 2, rounds: 1, spinners: 1, listenMs: 1000 };

function figuresOf(prefix: string, phase: Phase): FigureInput[] {
  // The machine is busy on purpose.
  const common = { subject: 'gateway', n: requestsIn(phase) };
  const failures = failuresIn(phase);
  const missed = failures[NOT_INTERRUPTED] ?? 0;
  const others = Object.values(failures).reduce((sum, count) => sum + count, 0) - missed;
  return [
    { ...common, name: `${prefix}.missed`, unit: '', value: missed },
    { ...common, name: `${prefix}.otherwise_failed`, unit: '', value: others },
    ...medianFigures(`${prefix}.silence`, latenciesIn(phase, 'bargeIn'), common),
    ...medianFigures(`${prefix}.clear`, latenciesIn(phase, 'clear'), common),
  ];
}

async function measure(context: Context, parameters: Parameters): Promise<void> {
  const { doors, calls, rounds, spinners, greeting } = parameters;
  const server = await context.start({ ...TONE, ...(await callEnvironment(context)) });
  const agent = await makeGreeter(server, greeting);
  const generator = context.anotherGenerator();
  const tasks = new Map(
    await Promise.all(
      doors.map(async (door) => [door, await lineTask(server, agent, door, calls, parameters)] as const),
    ),
  );
  const converse =
    (how: string) =>
    (door: DoorName): Promise<Phase> =>
      converseOn(context, server, generator, `${calls} calls by ${door}, ${how}`, tasks.get(door)!);
  for (const [how, count] of [
    ['idle', 0],
    ['busy', spinners],
  ] as const) {
    const others = context.own(new Spinners(count));
    const phases = await interleaved(doors, rounds, converse(how));
    await others.stop();
    for (const [door, measured] of phases) context.add(...figuresOf(`barge_in.${door}.${how}`, measured));
  }
  await generator.stop();
  await server.stop();
}

export default scenario<Parameters>({
  name: 'barge-in',
  title: 'Interruptions by telephone and by socket, on an idle and on a busy machine',
  isLocal: true,
  onlyByName: true,
  parameters: { full: FULL, quick: QUICK },
  run: measure,
});
