/** Speech that a remote engine makes: what it costs to pass it on, beside another gateway that does only that. */
import { startBareHttp } from '../baselines/baseline.js';
import type { Load } from '../generator/protocol.js';
import { doubtsIn, interleaved, merged, type Phase, requestsIn, throughputOf } from '../measure/phase.js';
import { startPortkey } from '../servers/portkey.js';
import type { Server } from '../servers/server.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { familyCostOf } from './speech/speech-figures.js';
import { speechOf, WARM_UP } from './speech/speech-request.js';

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

function load(context: Context, server: Server, text: string, what: string, load: Load): Promise<Phase> {
  const params = speechOf(server, { dialect: 'openai', format: 'pcm', text }, context.options);
  return context.load(server, what, 'speech', params, load);
}

function report(context: Context, own: Phase, peer: { readonly name: string; readonly phase: Phase }): void {
  const against = (of: (phase: Phase) => number) => ({ name: peer.name, value: of(peer.phase) });
  const common = { subject: 'gateway', n: requestsIn(own), doubts: doubtsIn(own, peer.phase) };
  context.add(
    {
      ...common,
      name: 'speech.proxied',
      unit: 'requests/s',
      value: throughputOf(own),
      baseline: against(throughputOf),
    },
    {
      ...common,
      name: 'speech.proxied.cpu',
      unit: 'ms',
      value: familyCostOf(own),
      baseline: against(familyCostOf),
    },
  );
}

export default scenario<Parameters>({
  name: 'proxied',
  title: 'Speech of a remote engine through the gateway, and through Portkey',
  isLocal: true,
  parameters: { full: FULL, quick: { ...FULL, seconds: 1, rounds: 1, warmUp: WARM_UP.quick } },
  async run(context, { text, connections, seconds, rounds, warmUp }) {
    const upstream = context.own(await startBareHttp(tone(), 'audio/pcm'));
    const remote = `${upstream.origin}/v1`;
    const own = await context.start({ TTS_ENGINES: 'openai-compatible', REMOTE_OPENAI_URL: remote });
    context.say('starting Portkey');
    const peer = context.own(await startPortkey(remote, PCM_RATE));
    for (const server of [own, peer]) await load(context, server, text, 'warm-up', warmUp);
    const phases = await interleaved([own, peer] as Server[], rounds, (server) =>
      load(context, server, text, `${connections} connections`, { concurrency: connections, seconds }),
    );
    report(context, merged(phases.get(own) ?? []), {
      name: peer.name,
      phase: merged(phases.get(peer) ?? []),
    });
  },
});
