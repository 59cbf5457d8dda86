/** The same conversations with agents of LiveKit's agents-js and of Pipecat, which hear and speak with the gateway's engines. */
import { randomUUID } from 'node:crypto';
import type { Step } from '../../calls/dialogue.js';
import type { Phase } from '../../measure/phase.js';
import { startAgentsJs } from '../../servers/agents-js.js';
import type { StartedServer } from '../../servers/checkout.js';
import { inviteTo, startLivekit } from '../../servers/livekit.js';
import { startModel } from '../../servers/model.js';
import { inviteToPipecat, startPipecat } from '../../servers/pipecat.js';
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

/** Starts an agent that hears and speaks with `speech`. Throws Error where it cannot be had here. */
type Start = (context: Context, speech: StartedServer, model: string) => Promise<Subject>;

/** By the name of its kind. */
const PEERS: Readonly<Record<string, Start>> = {
  async 'agents-js'(context, speech, model) {
    context.say('starting a LiveKit server');
    const livekit = context.own(await startLivekit());
    context.say('starting agents-js');
    const server = context.own(await startAgentsJs(livekit, speech, model));
    return { server, listener: async () => async () => inviteTo(livekit, randomUUID()) };
  },
  async pipecat(context, speech, model) {
    context.say('starting Pipecat');
    const agent = context.own(await startPipecat(speech, model));
    return {
      server: { name: agent.name },
      listener: async () => async () => inviteToPipecat(agent, randomUUID()),
    };
  },
};

/** Those that are wanted and can be had here; a remark says why one is not. */
async function startPeers(context: Context, speech: StartedServer, model: string): Promise<Subject[]> {
  const started: Subject[] = [];
  for (const [name, start] of Object.entries(PEERS)) {
    if (context.kinds.length > 0 && !context.kinds.includes(name)) continue;
    try {
      started.push(await start(context, speech, model));
    } catch (error) {
      context.remarks.push(`${name} was not measured: ${(error as Error).message}`);
    }
  }
  return started;
}

export default scenario<Parameters>({
  name: 'conversation-peers',
  title: 'The same conversations with agents-js and Pipecat on the same engines',
  isLocal: true,
  onlyByName: true,
  kinds: Object.keys(PEERS),
  parameters: { full: FULL, quick: QUICK },
  async run(context, { trials: all, modelMs, texts, paused, parts, recorded: people }) {
    const trials = { ...all, rounds: context.options.rounds ?? all.rounds };
    const model = context.own(await startModel(modelMs));
    const server = await context.start({ LLM_BASE_URL: model.url });
    // What calls cost is told by `conversation`: two of them are mostly what an idle gateway needs.
    const own: Subject = {
      server: { name: server.name },
      listener: (eagerness) => makeListener(server, eagerness),
    };
    const subjects = [own, ...(await startPeers(context, server, model.url))];
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
