/** Concurrent calls, with a synthetic voice and with recorded people: what the caller hears, and how many calls a core carries. */
import type { Step } from '../../calls/dialogue.js';
import type { Phase } from '../../measure/phase.js';
import { percentileChart } from '../../report/charts.js';
import { type Environment, TONE } from '../../servers/checkout.js';
import { callEnvironment, Callers, makeListener, recordAll, type Texts } from '../call-load.js';
import type { Context } from '../context.js';
import { measureDoor, OTHER_DOORS } from './conversation-doors.js';
import { failureFigures, measurePart, type Subject, type Trials } from './conversation-parts.js';
import { measureRecorded, noteClips, RECORDED, type RecordedSpeech } from './conversation-recorded.js';
import { PAUSED, type PartName, STEPS, TEXTS } from './conversation-texts.js';
import { scenario, type Search } from '../scenario.js';

interface Variant extends Trials {
  readonly environment: Environment;
  /** Only if the engine understands people. */
  readonly recorded?: RecordedSpeech;
}

interface Parameters {
  readonly variants: readonly Variant[];
  /** Until the first token of the model. */
  readonly modelMs: number;
  readonly texts: Texts;
  readonly paused: readonly string[];
  readonly parts: Readonly<Record<PartName, readonly Step[]>>;
}

const FULL: Parameters = {
  variants: [
    { prefix: 'conversation', environment: TONE, calls: 40, rounds: 1 },
    { prefix: 'conversation.speech', environment: {}, calls: 7, rounds: 5, recorded: RECORDED },
  ],
  modelMs: 150,
  texts: TEXTS,
  paused: PAUSED,
  parts: STEPS,
};
const QUICK: Parameters = {
  ...FULL,
  variants: [{ prefix: 'conversation', environment: TONE, calls: 2, rounds: 1 }],
};

async function measureVariant(
  context: Context,
  { environment, recorded: people, ...trials }: Variant,
  { modelMs, texts, paused, parts }: Parameters,
): Promise<void> {
  const server = await context.start({ ...environment, ...(await callEnvironment(context, modelMs)) });
  const subject: Subject = { server, listener: (eagerness) => makeListener(server, eagerness) };
  const recorded = await recordAll(server, texts, paused);
  noteClips(context, recorded);
  const phases: Phase[] = [];
  for (const [name, steps] of Object.entries(parts))
    phases.push(await measurePart(context, subject, trials, name as PartName, steps, recorded));
  context.add(...failureFigures(subject, trials, phases));
  if (people !== undefined) await measureRecorded(context, [subject], trials, people, recorded);
  const charted = { gateway: phases[0]! };
  const { prefix } = trials;
  context.chart(
    percentileChart(`${prefix}: the caller’s last sound to the agent’s first`, charted, 'answer'),
  );
  context.chart(percentileChart(`${prefix}: an interruption to silence`, charted, 'bargeIn'));
  await server.stop();
}

/** Calls in which these steps are repeated. */
const searchOf = (steps: readonly Step[]): Search<Parameters> => ({
  unit: 'calls',
  first: 5,
  most: 2000,
  async prepare(context, { texts }, server) {
    const recorded = await recordAll(server, texts);
    noteClips(context, recorded);
    const invite = await makeListener(server);
    return async (load, requests) => {
      const calls = Math.max(1, Math.round(load));
      const callers = new Callers(context, server, invite);
      await callers.join(calls, 4);
      const rounds = Math.max(1, Math.ceil(requests / (calls * steps.length)));
      const phase = await callers.converse(`${calls} calls`, steps, rounds, recorded);
      await callers.leave();
      await callers.stop();
      return phase;
    };
  },
});

/** Nothing but questions: as many answers as requests, and soon. */
export const questions = searchOf(STEPS.talking.filter((step) => 'question' in step)) as Search<unknown>;

export default scenario<Parameters>({
  name: 'conversation',
  title: 'Concurrent calls with synthetic and recorded speech: heard latency, interruptions, calls a core',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  doors: OTHER_DOORS,
  async run(context, parameters) {
    const door = OTHER_DOORS.find((each) => each === context.options.door);
    if (door !== undefined) return measureDoor(context, door);
    for (const variant of parameters.variants) await measureVariant(context, variant, parameters);
  },
  environment: async (context) => ({ ...TONE, ...(await callEnvironment(context)) }),
  search: searchOf(STEPS.talking),
});
