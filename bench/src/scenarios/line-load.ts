/** Callers on lines at once, by one door or another, with the same conversation. */
import { type DoorName, DOORS } from '../calls/doors.js';
import { type FigureInput, medianFigures } from '../figures.js';
import type { Generator } from '../generator/generator.js';
import { doubtsIn, failedIn, latenciesIn, type Phase, requestsIn, valuesIn } from '../measure/phase.js';
import type { LinesTask } from '../programs/lines.js';
import { destinationOf } from '../servers/destinations.js';
import type { Server } from '../servers/server.js';
import { record } from './call-load.js';
import type { Context } from './context.js';

/** What each caller does, and how many there are. */
export interface LineTexts {
  readonly greeting: string;
  readonly ask: string;
  readonly interrupt: string;
  readonly spreadMs: number;
  readonly listenMs: number;
}

export const LINE_TEXTS: LineTexts = {
  greeting: 'Hello.',
  ask: 'Please count all the words.',
  interrupt: 'No, stop that right now please.',
  spreadMs: 4000,
  listenMs: 5000,
};

/** What callers by that door are told to do. */
export async function lineTask(
  server: Server,
  agent: string,
  door: DoorName,
  calls: number,
  { ask, interrupt, spreadMs, listenMs }: LineTexts,
): Promise<LinesTask> {
  const { rate } = DOORS[door].audio;
  return {
    to: await destinationOf(server, agent, door),
    ...{ calls, spreadMs, listenMs },
    ask: await record(server, ask, rate),
    interrupt: await record(server, interrupt, rate),
  };
}

export const converseOn = (
  context: Context,
  server: Pick<Server, 'name' | 'pid'>,
  generator: Generator,
  what: string,
  params: LinesTask,
): Promise<Phase> => context.drive(server, what, generator, { program: 'lines', params });

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Names of figures, by what a caller measures. */
type Named = Readonly<Partial<Record<'greeting' | 'answer' | 'bargeIn' | 'clear', string>>>;

export function lineFigures(prefix: string, phase: Phase, named: Named): FigureInput[] {
  const common = { subject: 'gateway', doubts: doubtsIn(phase) };
  const frames = sum(valuesIn(phase, 'frames'));
  const late = (100 * sum(valuesIn(phase, 'late'))) / frames;
  return [
    ...Object.entries(named).flatMap(([reading, name]) =>
      medianFigures(`${prefix}.${name}`, latenciesIn(phase, reading), common),
    ),
    { ...common, name: `${prefix}.frames.late`, unit: '%', n: frames, value: late },
    { ...common, name: `${prefix}.failed`, unit: '', n: requestsIn(phase), value: failedIn(phase) },
  ];
}
