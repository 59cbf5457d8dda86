/** Speech by HTTP: how soon it is heard, whether it keeps coming, and what a request costs. */
import type { Load } from '../../generator/protocol.js';
import {
  doubtsIn,
  interleaved,
  type Phase,
  throughputOf,
  latenciesIn,
  requestsIn,
} from '../../measure/phase.js';
import { percentileChart, timeChart } from '../../report/charts.js';
import { TONE } from '../../servers/checkout.js';
import type { Server } from '../../servers/server.js';
import type { Context } from '../context.js';
import { scenario } from '../scenario.js';
import { costOf, familyCostOf, type Measured, speechFigures } from './speech-figures.js';
import { type Dialect, recordAnswer, speaks, speechOf, WARM_UP } from './speech-request.js';
import type { AudioFormat } from '../../audio/shape.js';

interface Variant {
  /** Begins the names of its latency figures, and of its cost figures. */
  readonly prefix: string;
  readonly cost: string;
  readonly dialect: Dialect;
  readonly format: AudioFormat;
  /** Requests a second of the gateway that is started here. */
  readonly rate: number;
}

interface Parameters {
  /** A second of audio, as the engine for tests speaks. */
  readonly text: string;
  readonly variants: readonly Variant[];
  /** Requests a second of a server that runs already: nobody knows what it bears. */
  readonly remoteRate: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly closed: { readonly connections: number; readonly seconds: number; readonly rounds: number };
  readonly seed: number;
  readonly warmUp: Load;
}

const FULL: Parameters = {
  text: 'A second of tones.',
  variants: [
    { prefix: 'speech', cost: 'speech.openai', dialect: 'openai', format: 'pcm', rate: 60 },
    { prefix: 'speech.native', cost: 'speech', dialect: 'native', format: 'pcm', rate: 60 },
    { prefix: 'speech.mp3', cost: 'speech.mp3', dialect: 'openai', format: 'mp3', rate: 20 },
  ],
  remoteRate: 4,
  seconds: 6,
  rounds: 3,
  closed: { connections: 32, seconds: 3, rounds: 4 },
  seed: 1,
  warmUp: WARM_UP.full,
};

const QUICK: Parameters = {
  ...FULL,
  seconds: 2,
  rounds: 1,
  closed: { connections: 32, seconds: 1, rounds: 1 },
  warmUp: WARM_UP.quick,
};

/** A server with the request that it is asked. */
class Asked {
  constructor(
    private readonly context: Context,
    readonly server: Server,
    private readonly variant: Variant,
    private readonly text: string,
  ) {}

  get params() {
    return speechOf(this.server, { ...this.variant, text: this.text }, this.context.options);
  }

  warmUp(load: Load): Promise<Phase> {
    return this.context.load(this.server, 'warm-up', 'speech', this.params, load);
  }

  open(rate: number, seconds: number, seed: number): Promise<Phase> {
    const what = `${this.variant.prefix}: ${rate.toFixed(0)} a second`;
    const arrivals = { kind: this.context.options.arrivals, rate, seconds, seed };
    return this.context.load(this.server, what, 'speech', this.params, { arrivals });
  }

  closed({ connections, seconds }: Parameters['closed']): Promise<Phase> {
    const what = `${this.variant.prefix}: ${connections} connections`;
    return this.context.load(this.server, what, 'speech', this.params, { concurrency: connections, seconds });
  }
}

/** The servers of one variant: the first, peers, and baselines, each warmed up. */
interface Cast {
  readonly first: Asked;
  readonly servers: readonly Asked[];
  /** The least work, and what one would write by hand; undefined where the first is elsewhere. */
  readonly bare: Asked | undefined;
  readonly streaming: Asked | undefined;
}

/** 100 ms of a second of audio. */
const PIECES = 10;

/** Undefined where no server speaks the variant's dialect. */
async function castOf(
  context: Context,
  servers: readonly Server[],
  variant: Variant,
  parameters: Parameters,
): Promise<Cast | undefined> {
  const text = context.options.text ?? parameters.text;
  const asked = (server: Server): Asked => new Asked(context, server, variant, text);
  const able = servers.filter((server) => speaks(server, variant.dialect)).map(asked);
  const [first] = able;
  if (first === undefined) return undefined;
  const { body, type } = await recordAnswer(first.params);
  const bare = await context.bareHttp(first.server, body, type);
  const streaming = await context.bareHttp(first.server, body, type, Math.ceil(body.length / PIECES));
  const cast = { first, servers: able, bare: bare && asked(bare), streaming: streaming && asked(streaming) };
  for (const each of [...able, cast.bare, cast.streaming]) await each?.warmUp(parameters.warmUp);
  return cast;
}

const present = (asked: readonly (Asked | undefined)[]): Asked[] => asked.filter((one) => one !== undefined);

type Phases = ReadonlyMap<Asked | undefined, Phase>;

const inTurns = (
  asked: readonly (Asked | undefined)[],
  rounds: number,
  run: (one: Asked, round: number) => Promise<Phase>,
): Promise<Phases> => interleaved(present(asked), rounds, run);

function measuredOf(phases: Phases, one: Asked | undefined): Measured | undefined {
  const phase = phases.get(one);
  return one && phase && { server: one.server, phase };
}

const byName = (phases: Phases): Record<string, Phase> =>
  Object.fromEntries([...phases].map(([one, phase]) => [one?.server.name ?? '', phase]));

function reportOpen(context: Context, prefix: string, { servers, bare }: Cast, phases: Phases): void {
  for (const one of servers) {
    const measured = measuredOf(phases, one);
    if (measured === undefined) continue;
    context.add(...speechFigures(prefix, measured, measuredOf(phases, bare)));
    context.chart(timeChart(`${prefix}: first audio over time, ${one.server.name}`, measured.phase, 'ttfa'));
  }
  context.chart(percentileChart(`${prefix}: time to first audio`, byName(phases), 'ttfa'));
}

/** CPU a request, and how many requests a second there are when nobody waits. */
function reportClosed(
  context: Context,
  prefix: string,
  { servers, bare, streaming }: Cast,
  phases: Phases,
): void {
  const against = (baseline: Asked | undefined, of: (phase: Phase) => number) => {
    const measured = measuredOf(phases, baseline);
    return measured && { name: measured.server.name, value: of(measured.phase) };
  };
  for (const one of servers) {
    const measured = measuredOf(phases, one);
    if (measured === undefined) continue;
    const { phase } = measured;
    const common = { subject: one.server.name, n: requestsIn(phase), doubts: doubtsIn(phase) };
    const cpu = { unit: 'ms', value: costOf(phase), ...common };
    context.add({
      name: `${prefix}.throughput`,
      unit: 'requests/s',
      value: throughputOf(phase),
      ...common,
      baseline: against(bare, throughputOf),
    });
    if (phase.cost === undefined) continue;
    context.add(
      { name: `${prefix}.cpu`, ...cpu, baseline: against(streaming, costOf) },
      { name: `${prefix}.cpu.least`, ...cpu, baseline: against(bare, costOf) },
      { name: `${prefix}.cpu.all`, ...cpu, value: familyCostOf(phase), baseline: against(streaming, costOf) },
    );
  }
}

/** Latency that the gateway adds to the bare handler's, at half of the throughput it can sustain. */
function reportAdded(context: Context, first: Measured, bare: Measured): void {
  const latencies = { own: latenciesIn(first.phase, 'e2e'), bare: latenciesIn(bare.phase, 'e2e') };
  for (const percentile of [50, 99] as const) {
    const [own, least] = [latencies.own.percentile(percentile), latencies.bare.percentile(percentile)];
    context.add({
      name: `speech.added.p${percentile}`,
      subject: first.server.name,
      unit: 'ms',
      n: latencies.own.n,
      value: 'value' in own && 'value' in least ? own.value - least.value : null,
      withheld: 'withheld' in own ? own.withheld : 'withheld' in least ? least.withheld : undefined,
      doubts: doubtsIn(first.phase, bare.phase),
    });
  }
  const phases = { [first.server.name]: first.phase, [bare.server.name]: bare.phase };
  context.chart(percentileChart('speech: whole request at half of saturation', phases, 'e2e'));
}

/** The variant that the cost of a request is told of. */
const MAIN_COST = 'speech';

async function measureVariant(
  context: Context,
  parameters: Parameters,
  servers: readonly Server[],
  variant: Variant,
) {
  const { rounds, seconds, closed, seed, remoteRate } = parameters;
  const cast = await castOf(context, servers, variant, parameters);
  if (cast === undefined) return;
  const { first, bare, streaming } = cast;
  const rate = context.options.rate ?? (first.server.pid === undefined ? remoteRate : variant.rate);
  const opened = await inTurns([...cast.servers, bare], rounds, (one, round) =>
    one.open(rate, seconds, seed + round),
  );
  reportOpen(context, variant.prefix, cast, opened);
  if (bare === undefined) return;
  const flooded = await inTurns([...cast.servers, bare, streaming], closed.rounds, (one) =>
    one.closed(closed),
  );
  reportClosed(context, variant.cost, cast, flooded);
  if (variant.cost !== MAIN_COST) return;
  const half = throughputOf(flooded.get(first)!) / 2;
  const halved = await inTurns([first, bare], rounds, (one, round) => one.open(half, seconds, seed + round));
  reportAdded(context, measuredOf(halved, first)!, measuredOf(halved, bare)!);
}

export default scenario<Parameters>({
  name: 'speech',
  title: 'Speech by HTTP: time to first audio, whether playback runs dry, cost of a request',
  parameters: { full: FULL, quick: QUICK },
  environment: () => TONE,
  async run(context, parameters) {
    const servers = [await context.server(TONE), ...(await context.peers())];
    for (const variant of parameters.variants) await measureVariant(context, parameters, servers, variant);
  },
  search: {
    unit: 'requests/s',
    first: 5,
    most: 10_000,
    async prepare(context, { text, variants, seed, warmUp }, server) {
      const variant = variants.find(({ dialect }) => speaks(server, dialect));
      if (variant === undefined) throw new Error(`${server.name} speaks no dialect of speech`);
      const asked = new Asked(context, server, variant, context.options.text ?? text);
      await asked.warmUp(warmUp);
      return (rate, requests) => asked.open(rate, Math.max(4, requests / rate), seed);
    },
  },
});
