/** Transcription of uploads: what the gateway adds to the model alone, and what a transcript is worth. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startBaseline } from '../baselines/baseline.js';
import { latencyFigures } from '../figures.js';
import { latenciesOf, type Reading } from '../histogram.js';
import {
  doubtsIn,
  failedFigure,
  interleaved,
  latenciesIn,
  type Phase,
  requestsIn,
  valuesIn,
} from '../measure/phase.js';
import { percentileChart } from '../report/charts.js';
import type { Server } from '../servers/server.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { speaks } from './speech/speech-request.js';
import { type Recording, recordSpeech, transcriptionOf } from './transcription-request.js';

interface Parameters {
  /** Eight seconds. */
  readonly text: string;
  /** One after another, in each round. */
  readonly requests: number;
  readonly rounds: number;
  /** Word error rate above which a transcript has failed. */
  readonly mostErrors: number;
}

const FULL: Parameters = {
  text:
    'The package was delivered to the front door this morning, and the driver left a note. ' +
    'Please call us back before six in the evening, and ask for the manager.',
  requests: 6,
  rounds: 4,
  mostErrors: 0.5,
};
const QUICK: Parameters = { ...FULL, requests: 2, rounds: 1 };

const dialectOf = (server: Server) => (speaks(server, 'native') ? 'native' : 'openai');

/** Undefined where the server is elsewhere: its model is not known. */
async function modelAlone(context: Context, { audio }: Recording): Promise<Server | undefined> {
  const { url, checkout = '' } = context.options;
  if (url !== undefined) return undefined;
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-'));
  try {
    const file = path.join(folder, 'speech.wav');
    await writeFile(file, audio);
    return context.own(await startBaseline('model', 'the model alone', [checkout, file]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const told = (reading: Reading) => ('value' in reading ? reading : { value: null, ...reading });

function reportServer(
  context: Context,
  server: Server,
  phase: Phase,
  alone: { server: Server; phase: Phase } | undefined,
) {
  const common = { subject: server.name, doubts: doubtsIn(phase, alone?.phase) };
  const latencies = latenciesIn(phase, 'e2e');
  const model = alone && latenciesIn(alone.phase, 'e2e').percentile(50);
  const baseline =
    alone && model && 'value' in model ? { name: alone.server.name, value: model.value } : undefined;
  const n = requestsIn(phase);
  const [wer, factors] = [valuesIn(phase, 'wer'), latenciesOf(valuesIn(phase, 'rtf'))];
  const mean = wer.reduce((sum, value) => sum + value, 0) / wer.length;
  context.add(...latencyFigures('transcription.e2e', latencies, common));
  context.add(
    ...(alone === undefined
      ? []
      : [
          {
            name: 'transcription.overhead',
            unit: 'ms',
            n,
            ...common,
            ...told(latencies.percentile(50)),
            baseline,
          },
        ]),
    { name: 'transcription.rtf.p50', unit: '×', n: factors.n, ...common, ...told(factors.percentile(50)) },
    { name: 'transcription.wer', unit: '%', n: wer.length, value: mean * 100, subject: server.name },
    failedFigure('transcription.failed', server.name, phase),
  );
}

export default scenario<Parameters>({
  name: 'transcription',
  title: 'Transcription of uploads, against the model alone',
  parameters: { full: FULL, quick: QUICK },
  async run(context, { text, requests, rounds, mostErrors }) {
    const servers = [await context.server({}), ...(await context.peers())];
    const recording = await recordSpeech(servers[0]!, text, context.options);
    const model = await modelAlone(context, recording);
    const ask = (server: Server, count = requests): Promise<Phase> => {
      const params = transcriptionOf(server, dialectOf(server), recording, mostErrors);
      return context.load(server, 'one at a time', 'transcription', params, {
        concurrency: 1,
        requests: count,
      });
    };
    const all = model === undefined ? servers : [...servers, model];
    for (const server of all) await ask(server, 1);
    const phases = await interleaved(all, rounds, (server) => ask(server));
    const phaseOf = (server: Server): Phase => phases.get(server)!;
    const alone = model && { server: model, phase: phaseOf(model) };
    for (const server of servers)
      reportServer(context, server, phaseOf(server), server === servers[0] ? alone : undefined);
    const lines = Object.fromEntries(all.map((server) => [server.name, phaseOf(server)]));
    context.chart(percentileChart('transcription: until the transcript', lines, 'e2e'));
  },
  search: {
    unit: 'requests/s',
    first: 1,
    most: 1000,
    async prepare(context, { text, mostErrors }, server) {
      const recording = await recordSpeech(server, text, context.options);
      const params = transcriptionOf(server, dialectOf(server), recording, mostErrors);
      return (rate, requests) => {
        const kind = context.options.arrivals;
        const arrivals = { kind, rate, seconds: Math.max(4, requests / rate), seed: 1 };
        return context.load(server, `${rate} a second`, 'transcription', params, { arrivals });
      };
    },
  },
});
