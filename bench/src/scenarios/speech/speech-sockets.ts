/** Speech by sockets while the text is being written, against a POST of the same clause: what the socket adds. */
import { latencyFigures } from '../../figures.js';
import {
  doubtsIn,
  failedFigure,
  interleaved,
  latenciesIn,
  type Phase,
  requestsIn,
} from '../../measure/phase.js';
import { percentileChart } from '../../report/charts.js';
import { leastSecondsOf } from '../../audio/answer.js';
import { authorizationOf, type Server } from '../../servers/server.js';
import type { SpeechSocketParams } from '../../clients/speech-socket.js';
import type { Context } from '../context.js';
import { TONE } from '../../servers/checkout.js';
import { scenario, type Search } from '../scenario.js';
import { speechOf } from './speech-request.js';

interface Parameters {
  readonly clause: string;
  /** The clause is known to be complete once this has come. */
  readonly next: string;
  /** One after another, in each round. */
  readonly requests: number;
  readonly rounds: number;
}

const FULL: Parameters = {
  clause: 'Your parcel has left our house,',
  next: ' and ',
  requests: 20,
  rounds: 3,
};
const QUICK: Parameters = { ...FULL, requests: 3, rounds: 1 };
const RATE = 16_000;

const PATHS = {
  live: '/v1/tts/live',
  'stream-input': '/compat/elevenlabs/v1/text-to-speech/default/stream-input?output_format=pcm_16000',
} as const;

function socketOf(
  server: Server,
  protocol: keyof typeof PATHS,
  { clause, next }: Parameters,
): SpeechSocketParams {
  return {
    protocol,
    url: `${server.origin.replace(/^http/, 'ws')}${PATHS[protocol]}`,
    headers: authorizationOf(server),
    words: [...clause.split(/(?<= )/), next],
    expected: { format: 'pcm', rate: RATE, leastSeconds: leastSecondsOf(clause) },
  };
}

function report(context: Context, name: string, socket: Phase, post: Phase): void {
  const common = { subject: 'gateway', doubts: doubtsIn(socket, post) };
  const posted = { name: 'a POST of the same clause', latencies: latenciesIn(post, 'ttfa') };
  const latencies = latenciesIn(socket, 'ttfa');
  const n = requestsIn(socket);
  const [own, other] = [latencies.percentile(50), posted.latencies.percentile(50)];
  const baseline = 'value' in other ? { name: posted.name, value: other.value } : undefined;
  const reading = 'value' in own ? { value: own.value } : { value: null, withheld: own.withheld };
  context.add({ name: `${name}.ttfa`, unit: 'ms', n, ...common, ...reading, baseline });
  context.add(...latencyFigures(`${name}.ttfa`, latencies, common, posted));
  context.add(failedFigure(`${name}.failed`, 'gateway', socket));
  context.chart(percentileChart(`${name}: first audio after the clause`, { socket, POST: post }, 'ttfa'));
}

async function run(context: Context, name: keyof typeof PATHS, parameters: Parameters): Promise<void> {
  const server = await context.server({});
  const { clause, requests, rounds } = parameters;
  const wanted = { dialect: 'native', format: 'pcm', text: clause, latency: 'low' } as const;
  const load = { concurrency: 1, requests };
  const ways = {
    socket: () =>
      context.load(server, 'by the socket', 'speech-socket', socketOf(server, name, parameters), load),
    post: () => context.load(server, 'by POST', 'speech', speechOf(server, wanted, context.options), load),
  };
  for (const way of [ways.socket, ways.post]) await way();
  const phases = await interleaved([ways.socket, ways.post], rounds, (way) => way());
  report(context, name, phases.get(ways.socket)!, phases.get(ways.post)!);
}

/** Clauses by the socket, at a rate. */
const searchOf = (name: keyof typeof PATHS): Search<Parameters> => ({
  unit: 'requests/s',
  first: 5,
  most: 10_000,
  prepare(context, parameters, server) {
    const params = socketOf(server, name, parameters);
    return Promise.resolve((rate, requests) => {
      const arrivals = {
        kind: context.options.arrivals,
        rate,
        seconds: Math.max(4, requests / rate),
        seed: 1,
      };
      return context.load(server, `${rate} a second`, 'speech-socket', params, { arrivals });
    });
  },
});

const socketScenario = (name: keyof typeof PATHS, title: string) =>
  scenario<Parameters>({
    name,
    title,
    parameters: { full: FULL, quick: QUICK },
    run: (context, parameters) => run(context, name, parameters),
    environment: () => TONE,
    search: searchOf(name),
  });

export const live = socketScenario(
  'live',
  'Speech by /v1/tts/live: first audio after a clause has been written',
);
export const streamInput = socketScenario(
  'stream-input',
  'Speech by stream-input: first audio after a clause has been written',
);
