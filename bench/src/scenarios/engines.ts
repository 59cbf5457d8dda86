/** The default engines, as a user hears them: the first MP3 byte of a sentence, many at once, and the loop meanwhile. */
import { setTimeout as pause } from 'node:timers/promises';
import { type FigureInput, medianFigures } from '../figures.js';
import { median } from '../histogram.js';
import {
  doubtsIn,
  failedIn,
  latenciesIn,
  type Phase,
  requestsIn,
  secondsOf,
  valuesIn,
} from '../measure/phase.js';
import { percentileChart } from '../report/charts.js';
import type { Server } from '../servers/server.js';
import { readLoop } from '../servers/metrics.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { speechOf } from './speech/speech-request.js';

interface Parameters {
  readonly sentence: string;
  /** One after another, of each latency. */
  readonly requests: number;
  /** So many at once, each asking again. */
  readonly concurrencies: readonly number[];
  readonly seconds: number;
  readonly loop: {
    readonly text: string;
    readonly requests: number;
    readonly rounds: number;
    readonly idleMs: number;
  };
}

const LONG = 'The package was delivered to the front door this morning, and the driver left a note. ';

const FULL: Parameters = {
  sentence: 'Your parcel has left our house, and will be there on Monday.',
  requests: 24,
  concurrencies: [4, 16, 50],
  seconds: 8,
  loop: { text: LONG.repeat(3).slice(0, 200), requests: 8, rounds: 3, idleMs: 2000 },
};
const QUICK: Parameters = {
  ...FULL,
  requests: 2,
  concurrencies: [4],
  seconds: 1,
  loop: { ...FULL.loop, rounds: 1, idleMs: 500 },
};

const LATENCIES = ['low', 'normal'] as const;

const mp3Of = (context: Context, server: Server, text: string, latency: (typeof LATENCIES)[number]) =>
  speechOf(server, { dialect: 'native', format: 'mp3', text, latency }, context.options);

const firstAudio = (name: string, phase: Phase): FigureInput[] =>
  medianFigures(`engines.${name}.ttfa`, latenciesIn(phase, 'ttfa'), {
    subject: 'gateway',
    doubts: doubtsIn(phase),
  });

async function measureAlone(
  context: Context,
  server: Server,
  { sentence, requests }: Parameters,
): Promise<Phase[]> {
  const phases: Phase[] = [];
  for (const latency of LATENCIES) {
    const load = { concurrency: 1, requests };
    const params = mp3Of(context, server, sentence, latency);
    const phase = await context.load(server, `latency ${latency}`, 'speech', params, load);
    context.add(...firstAudio(latency, phase));
    phases.push(phase);
  }
  return phases;
}

/** Seconds of audio a second, of all answers together. */
const speedOf = (phase: Phase): number =>
  valuesIn(phase, 'duration').reduce((sum, each) => sum + each, 0) / secondsOf(phase);

async function measureTogether(context: Context, server: Server, parameters: Parameters): Promise<Phase[]> {
  const { sentence, concurrencies, seconds } = parameters;
  const phases: Record<string, Phase> = {};
  for (const concurrency of concurrencies) {
    const params = mp3Of(context, server, sentence, 'low');
    const load = { concurrency, seconds };
    const phase = await context.load(server, `${concurrency} at once`, 'speech', params, load);
    context.add(...firstAudio(`at${concurrency}`, phase));
    const common = { subject: 'gateway', n: requestsIn(phase), doubts: doubtsIn(phase) };
    context.add({
      name: `engines.at${concurrency}.speed`,
      unit: '× real time',
      value: speedOf(phase),
      ...common,
    });
    phases[`${concurrency} at once`] = phase;
  }
  context.chart(percentileChart('engines: first audio of a sentence', phases, 'ttfa'));
  return Object.values(phases);
}

/** Milliseconds that synthesis adds to the event loop's p99 delay. */
async function measureLoop(context: Context, server: Server, { loop }: Parameters): Promise<Phase[]> {
  const added: number[] = [];
  const phases: Phase[] = [];
  for (let round = 0; round < loop.rounds; round += 1) {
    await readLoop(server);
    await pause(loop.idleMs);
    const idle = await readLoop(server);
    const params = mp3Of(context, server, loop.text, 'normal');
    const load = { concurrency: loop.requests, requests: loop.requests };
    phases.push(await context.load(server, 'event loop', 'speech', params, load));
    added.push((await readLoop(server)).p99 - idle.p99);
  }
  const common = { subject: 'gateway', n: loop.rounds, doubts: doubtsIn(...phases) };
  context.add({ name: 'engines.loop', unit: 'ms', value: median(added), ...common });
  return phases;
}

export default scenario<Parameters>({
  name: 'engines',
  title: 'The default engines: first audio of a sentence, alone and at once',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    const server = await context.start({});
    const warm = mp3Of(context, server, 'Hello.', 'low');
    await context.load(server, 'warm-up', 'speech', warm, { concurrency: 1, requests: 2 });
    const phases = [
      ...(await measureAlone(context, server, parameters)),
      ...(await measureTogether(context, server, parameters)),
      ...(await measureLoop(context, server, parameters)),
    ];
    const [n, failed] = [requestsIn, failedIn].map((count) =>
      phases.reduce((sum, phase) => sum + count(phase), 0),
    );
    context.add({ name: 'engines.failed', unit: '', n: n!, value: failed!, subject: 'gateway' });
  },
});
