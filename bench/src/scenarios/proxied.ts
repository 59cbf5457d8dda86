/** Speech that a remote engine makes: what it costs to pass it on, beside another gateway that does only that. */
import { startBareHttp } from '../baselines/baseline.js';
import type { Load } from '../generator/protocol.js';
import { doubtsIn, interleaved, merged, type Phase, requestsIn, throughputOf } from '../measure/phase.js';
import { startPortkey } from '../servers/portkey.js';
import type { Server } from '../servers/server.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { familyCostOf } from './speech/speech-figures.js';
import { recordAnswer, speechOf, type Wanted, WARM_UP } from './speech/speech-request.js';

interface Parameters {
  readonly text: string;
  readonly connections: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUp: Load;
}

const FULL: Parameters = {
  text: 'A second of tones.',
  connections: 32,
  seconds: 3,
  rounds: 4,
  warmUp: WARM_UP.full,
};
const PCM_RATE = 24_000;
const [PITCH, LOUDNESS] = [440, 8000];

/** A second of a tone, as 16-bit samples. */
function tone(): Buffer {
  const samples = Int16Array.from({ length: PCM_RATE }, (_, at) =>
    Math.round(LOUDNESS * Math.sin((2 * Math.PI * PITCH * at) / PCM_RATE)),
  );
  return Buffer.from(samples.buffer);
}

/** Formats of the client's: of the engine's samples, and of a file that the engine makes and the gateway passes on. */
const WAYS = {
  pcm: { figure: 'speech.proxied', type: 'audio/pcm', settings: {} },
  mp3: {
    figure: 'speech.proxied.mp3',
    type: 'audio/mpeg',
    settings: { REMOTE_OPENAI_PASS_THROUGH: 'mp3_44100_128' },
  },
} as const;
type Format = keyof typeof WAYS;

const startGateway = (context: Context, remote: string, settings: Readonly<Record<string, string>>) =>
  context.start({ TTS_ENGINES: 'openai-compatible', REMOTE_OPENAI_URL: remote, ...settings });

function load(
  context: Context,
  server: Server,
  wanted: Pick<Wanted, 'format' | 'text'>,
  what: string,
  load: Load,
): Promise<Phase> {
  const params = speechOf(server, { dialect: 'openai', ...wanted }, context.options);
  return context.load(server, `${wanted.format}, ${what}`, 'speech', params, load);
}

function report(
  context: Context,
  figure: string,
  own: Phase,
  peer: { readonly name: string; readonly phase: Phase },
): void {
  const against = (of: (phase: Phase) => number) => ({ name: peer.name, value: of(peer.phase) });
  const common = { subject: 'gateway', n: requestsIn(own), doubts: doubtsIn(own, peer.phase) };
  context.add(
    {
      ...common,
      name: figure,
      unit: 'requests/s',
      value: throughputOf(own),
      baseline: against(throughputOf),
    },
    {
      ...common,
      name: `${figure}.cpu`,
      unit: 'ms',
      value: familyCostOf(own),
      baseline: against(familyCostOf),
    },
  );
}

/** Compares both gateways in front of an engine that answers with this file. */
async function compare(
  context: Context,
  format: Format,
  file: Buffer,
  parameters: Parameters,
): Promise<void> {
  const { text, connections, seconds, rounds, warmUp } = parameters;
  const { figure, type, settings } = WAYS[format];
  const upstream = context.own(await startBareHttp(file, type));
  const remote = `${upstream.origin}/v1`;
  const own = await startGateway(context, remote, settings);
  context.say('starting Portkey');
  const peer = context.own(await startPortkey(remote, PCM_RATE));
  const wanted = { format, text };
  for (const server of [own, peer]) await load(context, server, wanted, 'warm-up', warmUp);
  const phases = await interleaved([own, peer] as Server[], rounds, (server) =>
    load(context, server, wanted, `${connections} connections`, { concurrency: connections, seconds }),
  );
  report(context, figure, merged(phases.get(own) ?? []), {
    name: peer.name,
    phase: merged(phases.get(peer) ?? []),
  });
}

/** The tone as MP3, as a gateway that encodes it itself gives it. */
async function encoded(context: Context, samples: Buffer, text: string): Promise<Buffer> {
  const upstream = context.own(await startBareHttp(samples, WAYS.pcm.type));
  const own = await startGateway(context, `${upstream.origin}/v1`, {});
  const { body } = await recordAnswer(
    speechOf(own, { dialect: 'openai', format: 'mp3', text }, context.options),
  );
  return body;
}

export default scenario<Parameters>({
  name: 'proxied',
  title: 'Speech of a remote engine through the gateway, and through Portkey',
  isLocal: true,
  parameters: { full: FULL, quick: { ...FULL, seconds: 1, rounds: 1, warmUp: WARM_UP.quick } },
  async run(context, parameters) {
    const samples = tone();
    await compare(context, 'pcm', samples, parameters);
    await compare(context, 'mp3', await encoded(context, samples, parameters.text), parameters);
  },
});
