/**
 * Requests that a remote engine serves, through the gateway, through other gateways, and through proxies that only pass on: CPU of
 * whole process trees, requests a second, what each adds at half of its load, and memory.
 */
import { startBareHttp } from '../baselines/baseline.js';
import { wavOf } from '../audio/wav.js';
import type { Load } from '../generator/protocol.js';
import { familyMemory } from '../measure/processes.js';
import {
  doubtsIn,
  failedFigure,
  interleaved,
  latenciesIn,
  type Phase,
  requestsIn,
  throughputOf,
} from '../measure/phase.js';
import type { Environment } from '../servers/checkout.js';
import { RIVALS } from '../servers/rivals/index.js';
import { nodeProxy } from '../servers/rivals/proxies.js';
import type { Rival } from '../servers/rivals/rival.js';
import { ENGINE_RATE } from '../servers/program.js';
import type { Server } from '../servers/server.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { familyCostOf } from './speech/speech-figures.js';
import { recordAnswer, speechOf, WARM_UP } from './speech/speech-request.js';
import { transcriptionOf } from './transcription-request.js';

interface Parameters {
  readonly connections: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUp: Load;
  /** Seconds of the load at half of each server's throughput. */
  readonly halfSeconds: number;
}

const FULL: Parameters = { connections: 16, seconds: 3, rounds: 3, warmUp: WARM_UP.full, halfSeconds: 4 };
const QUICK: Parameters = { ...FULL, seconds: 1, rounds: 1, warmUp: WARM_UP.quick, halfSeconds: 1 };

/** One kind of request: what the engine answers, and how the gateway is set up for it. */
interface Row {
  readonly answer: (context: Context) => Promise<{ readonly body: Buffer; readonly type: string }>;
  readonly settings: Environment;
  readonly client: 'speech' | 'transcription';
  params(server: Server, context: Context): unknown;
}

const SPEAKING: Environment = { TTS_ENGINES: 'openai-compatible' };
const HEARING: Environment = { STT_ENGINES: 'openai-compatible' };
const WORDS = 'a second of tones';
const [PITCH, LOUDNESS] = [440, 8000];

/** A tone, as 16-bit samples. */
function tone(bytes: number): Buffer {
  const samples = Int16Array.from({ length: bytes / 2 }, (_, at) =>
    Math.round(LOUDNESS * Math.sin((2 * Math.PI * PITCH * at) / ENGINE_RATE)),
  );
  return Buffer.from(samples.buffer);
}

const pcm = (bytes: number, text: string): Row => ({
  answer: () => Promise.resolve({ body: tone(bytes), type: 'audio/pcm' }),
  settings: SPEAKING,
  client: 'speech',
  params: (server, { options }) => speechOf(server, { dialect: 'openai', format: 'pcm', text }, options),
});

/** The tone as MP3, as a gateway that encodes it itself gives it. */
async function encoded(context: Context): Promise<{ readonly body: Buffer; readonly type: string }> {
  const engine = context.own(await startBareHttp(tone(50_000), 'audio/pcm'));
  const server = await context.start({ ...SPEAKING, REMOTE_OPENAI_URL: `${engine.origin}/v1` });
  const answer = await recordAnswer(
    speechOf(server, { dialect: 'openai', format: 'mp3', text: WORDS }, context.options),
  );
  await server.stop();
  return answer;
}

const ROWS: Readonly<Record<string, Row>> = {
  pcm2k: pcm(2048, 'A'),
  pcm50k: pcm(50_000, WORDS),
  mp3: {
    answer: encoded,
    settings: { ...SPEAKING, REMOTE_OPENAI_PASS_THROUGH: 'mp3_44100_128' },
    client: 'speech',
    params: (server, { options }) =>
      speechOf(server, { dialect: 'openai', format: 'mp3', text: WORDS }, options),
  },
  transcript: {
    answer: () =>
      Promise.resolve({ body: Buffer.from(JSON.stringify({ text: WORDS })), type: 'application/json' }),
    settings: HEARING,
    client: 'transcription',
    params: (server) =>
      transcriptionOf(
        server,
        'openai',
        { audio: wavOf(tone(8000), ENGINE_RATE), duration: 8000 / 2 / ENGINE_RATE, spoken: WORDS },
        0,
      ),
  },
};

/** Where latency is measured as well. */
const LATENCY_ROW = 'pcm2k';

interface Contender {
  /** `gateway`, a rival's id, or a peer's name. */
  readonly id: string;
  readonly server: Server;
}

/** Twice: its port may be taken meanwhile, and one-api may die of its own cache while it starts. */
const startTwice = ({ start }: Rival, engine: string): Promise<Server> =>
  start(engine).catch(() => start(engine));

async function startRivals(context: Context, engine: string): Promise<Contender[]> {
  const started: Contender[] = [];
  for (const rival of RIVALS) {
    const { id } = rival;
    context.say(`starting ${id}`);
    try {
      started.push({ id, server: context.own(await startTwice(rival, engine)) });
    } catch (error) {
      const remark = `${id} was not measured: ${error instanceof Error ? error.message : String(error)}`;
      if (!context.remarks.includes(remark)) context.remarks.push(remark);
    }
  }
  return started;
}

/** A contender's load of one row. */
type Ask = (contender: Contender, what: string, load: Load) => Promise<Phase>;

type Phases = ReadonlyMap<Contender, Phase>;

/** CPU and requests a second of each, and how often its CPU is the gateway's. */
function reportRow(context: Context, row: string, phases: Phases): void {
  const of = (id: string): Phase | undefined => [...phases].find(([contender]) => contender.id === id)?.[1];
  const [own, floor] = [of('gateway'), of(nodeProxy.id)];
  for (const [{ id, server }, phase] of phases) {
    const common = { subject: server.name, n: requestsIn(phase), doubts: doubtsIn(phase, floor) };
    const against = (read: (phase: Phase) => number) =>
      floor && phase !== floor ? { name: 'a proxy of node:http', value: read(floor) } : undefined;
    context.add(
      {
        ...common,
        name: `rivals.${row}.cpu`,
        unit: 'ms',
        value: familyCostOf(phase),
        baseline: against(familyCostOf),
      },
      {
        ...common,
        name: `rivals.${row}.throughput`,
        unit: 'requests/s',
        value: throughputOf(phase),
        baseline: against(throughputOf),
      },
      failedFigure(`rivals.${row}.failed`, server.name, phase),
    );
    if (own === undefined || phase === own) continue;
    const over = familyCostOf(phase) / familyCostOf(own);
    context.add({
      ...common,
      subject: 'gateway',
      name: `rivals.${row}.over.${id}`,
      unit: '×',
      value: over,
      doubts: doubtsIn(own, phase),
    });
  }
}

/** What a contender adds to the engine alone, at half of the throughput that it has. */
async function reportAdded(
  context: Context,
  contender: Contender,
  phase: Phase,
  { engine, ask, seconds }: { readonly engine: Contender; readonly ask: Ask; readonly seconds: number },
): Promise<void> {
  const rate = throughputOf(phase) / 2;
  if (!(rate > 1)) return;
  const arrivals = { kind: context.options.arrivals, rate, seconds, seed: 1 };
  const alone = await ask(engine, 'the engine alone', { arrivals });
  const behind = await ask(contender, 'at half load', { arrivals });
  for (const percentile of [50, 99] as const) {
    const [most, least] = [behind, alone].map((each) => latenciesIn(each, 'e2e').percentile(percentile));
    if (most === undefined || least === undefined) continue;
    context.add({
      name: `rivals.added.p${percentile}`,
      subject: contender.server.name,
      unit: 'ms',
      n: requestsIn(behind),
      value: 'value' in most && 'value' in least ? most.value - least.value : null,
      withheld: 'withheld' in most ? most.withheld : undefined,
      doubts: doubtsIn(behind, alone),
    });
  }
}

const memoryOf = ({ server: { name, pid } }: Contender) =>
  pid === undefined
    ? []
    : [{ name: 'rivals.memory', subject: name, unit: 'MB', n: 1, value: familyMemory(pid) }];

async function measureRow(context: Context, name: string, row: Row, parameters: Parameters): Promise<void> {
  const { connections, seconds, warmUp, halfSeconds } = parameters;
  const rounds = context.options.rounds ?? parameters.rounds;
  const { body, type } = await row.answer(context);
  const engine = context.own(await startBareHttp(body, type, 0, context.options.enginePort));
  const own = await context.start({ ...row.settings, REMOTE_OPENAI_URL: `${engine.origin}/v1` });
  const peers = (await context.peers()).map((server) => ({ id: server.name, server }));
  const contenders = [
    { id: 'gateway', server: own },
    ...(await startRivals(context, engine.origin)),
    ...peers,
  ];
  const ask: Ask = ({ server }, what, load) =>
    context.load(server, `${name}, ${what}`, row.client, row.params(server, context), load);
  for (const contender of contenders) await ask(contender, 'warm-up', warmUp);
  const phases = await interleaved(contenders, rounds, (contender) =>
    ask(contender, `${connections} connections`, { concurrency: connections, seconds }),
  );
  reportRow(context, name, phases);
  if (name === LATENCY_ROW) {
    context.add(...contenders.flatMap(memoryOf));
    const alone = { id: 'engine', server: { ...engine, openai: `${engine.origin}/v1` } };
    for (const [contender, phase] of phases)
      await reportAdded(context, contender, phase, { engine: alone, ask, seconds: halfSeconds });
  }
  for (const { server } of contenders) await server.stop();
  await engine.stop();
}

export default scenario<Parameters>({
  name: 'rivals',
  title: 'Requests of a remote engine through the gateway, other gateways and bare proxies',
  isLocal: true,
  onlyByName: true,
  kinds: Object.keys(ROWS),
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    for (const [name, row] of Object.entries(ROWS))
      if (context.kinds.length === 0 || context.kinds.includes(name))
        await measureRow(context, name, row, parameters);
  },
});
