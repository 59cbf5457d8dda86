/** The same conversations with an agent of LiveKit's agents-js, which hears and speaks with the gateway's engines. */
import { randomUUID } from 'node:crypto';
import type { Step } from '../../calls/dialogue.js';
import type { Phase } from '../../measure/phase.js';
import { startAgentsJs } from '../../servers/agents-js.js';
import type { StartedServer } from '../../servers/checkout.js';
import { inviteTo, startLivekit } from '../../servers/livekit.js';
import { startModel } from '../../servers/model.js';
import { makeListener, recordAll, type Texts } from '../call-load.js';
import type { Context } from '../context.js';
import { failureFigures, measurePart, type Subject, type Trials } from './conversation-parts.js';
import { measureRecorded, noteClips, RECORDED, type RecordedSpeech } from './conversation-recorded.js';
import { PAUSED, type PartName, STEPS, TEXTS } from './conversation-texts.js';
import { scenario } from '../scenario.js';

interface Parameters {
  readonly trials: Trials;
  /** Until the first token of the model. */
  readonly modelMs: number;
  readonly texts: Texts;
  readonly paused: readonly string[];
  readonly parts: Readonly<Partial<Record<PartName, readonly Step[]>>>;
  readonly recorded: RecordedSpeech;
}

const FULL: Parameters = {
  trials: { prefix: 'conversation.speech', calls: 2, rounds: 17 },
  modelMs: 150,
  texts: TEXTS,
  paused: PAUSED,
  parts: { talking: STEPS.talking, pausing: STEPS.pausing },
  recorded: RECORDED,
};
const QUICK: Parameters = { ...FULL, trials: { ...FULL.trials, calls: 1, rounds: 1 } };

async function startPeer(context: Context, speech: StartedServer, model: string): Promise<Subject> {
  context.say('starting a LiveKit server');
  const livekit = context.own(await startLivekit());
  context.say('starting agents-js');
  const agents = context.own(await startAgentsJs(livekit, speech, model));
  return {
    server: agents,
    listener: () => Promise.resolve(() => Promise.resolve(inviteTo(livekit, randomUUID()))),
  };
}

export default scenario<Parameters>({
  name: 'conversation-peers',
  title: 'The same conversations with agents-js on the same engines',
  isLocal: true,
  onlyByName: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, { trials, modelMs, texts, paused, parts, recorded: people }) {
    const model = context.own(await startModel(modelMs));
    const server = await context.start({ LLM_BASE_URL: model.url });
    const own: Subject = { server, listener: (eagerness) => makeListener(server, eagerness) };
    const subjects = [own, await startPeer(context, server, model.url)];
    const recorded = await recordAll(server, texts, paused);
    noteClips(context, recorded);
    const phases = new Map<Subject, Phase[]>(subjects.map((subject) => [subject, []]));
    for (const [name, steps] of Object.entries(parts))
      for (const subject of subjects)
        phases
          .get(subject)
          ?.push(await measurePart(context, subject, trials, name as PartName, steps, recorded));
    for (const [subject, measured] of phases) context.add(...failureFigures(subject, trials, measured));
    await measureRecorded(context, subjects, trials, people, recorded);
  },
});
