/** What the media processes of a gateway spend on calls, against the Opus of the same calls alone. */
import type { FigureInput } from '../../figures.js';
import { doubtsIn, type Phase, secondsOf, valuesIn } from '../../measure/phase.js';
import { cpuOf, membersOf } from '../../measure/processes.js';
import type { OpusTask } from '../../programs/opus.js';
import type { Server } from '../../servers/server.js';
import type { Recordings } from '../call-load.js';
import type { Context } from '../context.js';

/** Calls that have talked. */
interface Talk {
  readonly prefix: string;
  readonly calls: number;
  readonly server: Pick<Server, 'name'>;
  readonly phase: Phase;
}

const MEDIA = 'workers/media';
const BASELINE = 'decoding and encoding its Opus alone';

/** Counts CPU of the media processes that there are now: returns how many ms since then; undefined where there is none. */
export function watchMedia({ pid }: Pick<Server, 'pid'>): () => number | undefined {
  const processes = pid === undefined ? [] : membersOf(pid, MEDIA);
  const sum = (): number => processes.reduce((all, each) => all + cpuOf(each), 0);
  const before = sum();
  return () => (processes.length === 0 ? undefined : sum() - before);
}

/** `spent`: ms of CPU of the media processes in the phase. Measures the baseline, in a process of its own. */
export async function mediaFigure(
  context: Context,
  { prefix, calls, server, phase }: Talk,
  spent: number,
  recorded: Recordings,
): Promise<FigureInput> {
  const count = (name: string): number => valuesIn(phase, name).reduce((sum, value) => sum + value, 0);
  const task: OpusTask = {
    sent: count('sent'),
    said: count('said'),
    heard: count('frames'),
    clips: Object.values(recorded).flatMap((takes) => takes.map(({ pcm }) => pcm)),
  };
  const alone = await context.generator.run({ program: 'opus', params: task });
  const callSeconds = calls * secondsOf(phase);
  return {
    subject: server.name,
    doubts: doubtsIn(phase),
    name: `${prefix}.media`,
    unit: 'ms a second',
    n: calls,
    value: spent / callSeconds,
    baseline: { name: BASELINE, value: (alone.cpu * alone.seconds * 1000) / callSeconds },
  };
}
