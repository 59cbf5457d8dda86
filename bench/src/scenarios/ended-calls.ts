/** Many calls at once that talk and end, again and again: the memory that they leave behind. */
import { setTimeout as pause } from 'node:timers/promises';
import { doubtsIn, type Phase } from '../measure/phase.js';
import { familyMemory, membersOf, memoryOf } from '../measure/processes.js';
import { type StartedServer, TONE } from '../servers/checkout.js';
import { readMetrics, sumOf } from '../servers/metrics.js';
import { callEnvironment, Callers, makeListener, recordAll } from './call-load.js';
import type { Context } from './context.js';
import { TEXTS } from './conversation/conversation-texts.js';
import { scenario } from './scenario.js';

interface Parameters {
  /** Calls at once, round by round; the last two are alike. */
  readonly rounds: readonly number[];
  /** From the end of a round's calls until memory is read: the gateway may take its time to give it back. */
  readonly settledMs: number;
}

const STEPS = [{ question: 'opening' }];
/** Until a round's calls have ended in the gateway. */
const ENDED_MS = 60_000;

/** MB: of the processes that carry calls, and of all. */
interface Held {
  readonly media: number;
  readonly all: number;
}

const heldBy = ({ pid }: StartedServer): Held => ({
  media: membersOf(pid, 'workers/media.js').reduce((sum, each) => sum + memoryOf(each), 0),
  all: familyMemory(pid),
});

async function ended(server: StartedServer): Promise<void> {
  const end = performance.now() + ENDED_MS;
  while (sumOf(await readMetrics(server), 'gateway_calls') > 0 && performance.now() < end) await pause(500);
}

function report(
  context: Context,
  rounds: readonly number[],
  held: readonly Held[],
  phases: readonly Phase[],
) {
  const [first, before, last] = [held[0]!, held.at(-2)!, held.at(-1)!];
  const n = Math.max(...rounds);
  const common = { subject: 'gateway', unit: 'MB', n, doubts: doubtsIn(...phases) };
  context.add(
    { ...common, name: 'ended-calls.memory', value: (last.media - first.media) / n },
    { ...common, name: 'ended-calls.memory.again', value: (last.media - before.media) / n },
    { ...common, name: 'ended-calls.memory.all', value: (last.all - first.all) / n },
  );
  context.tables.push({
    title: 'Memory before, and after each round of calls, in MB',
    head: ['calls at once', 'processes that carry calls', 'all processes'],
    rows: held.map(({ media, all }, round) => [
      String(rounds[round - 1] ?? 0),
      media.toFixed(1),
      all.toFixed(1),
    ]),
  });
}

export default scenario<Parameters>({
  name: 'ended-calls',
  title: 'Many calls at once that talk and end, again and again: memory that they leave behind',
  isLocal: true,
  onlyByName: true,
  parameters: {
    full: { rounds: [20, 40, 40], settledMs: 45_000 },
    quick: { rounds: [1, 2, 2], settledMs: 1000 },
  },
  async run(context, { rounds, settledMs }) {
    const server = await context.start({ ...TONE, ...(await callEnvironment(context)) });
    const invite = await makeListener(server);
    const recorded = await recordAll(server, { opening: TEXTS['opening'] ?? [] });
    const phases: Phase[] = [];
    const held = [heldBy(server)];
    for (const calls of rounds) {
      const callers = new Callers(context, server, invite);
      await callers.join(calls, 4);
      phases.push(await callers.converse(`${calls} calls`, STEPS, 1, recorded));
      await callers.leave();
      await callers.stop();
      context.say(`waiting until ${calls} calls have ended and left nothing`);
      await ended(server);
      await pause(settledMs);
      held.push(heldBy(server));
    }
    report(context, rounds, held, phases);
  },
});
