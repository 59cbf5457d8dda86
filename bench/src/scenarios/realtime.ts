/** Realtime sockets: CPU of appends, commits and opens against sockets that do nothing, and memory of idle ones. */
import { startBaseline } from '../baselines/baseline.js';
import type { Generator } from '../generator/generator.js';
import { latencyFigures } from '../figures.js';
import { INSPECTABLE, Inspector } from '../measure/inspector.js';
import { doubtsIn, interleaved, latenciesIn, type Phase, requestsIn } from '../measure/phase.js';
import { APPENDS_A_SECOND, type RealtimeTask } from '../programs/realtime.js';
import type { SocketAddress } from '../programs/web-socket-frames.js';
import { percentileChart } from '../report/charts.js';
import { TONE } from '../servers/checkout.js';
import { authorizationOf, type Server } from '../servers/server.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';

interface Parameters {
  readonly appends: readonly { readonly sockets: number; readonly rounds: number }[];
  readonly seconds: number;
  /** As often sockets are opened and closed before opens count: the first thousands run through code not yet compiled. */
  readonly warmOpens: number;
  /**
   * Rounds with a commit a second a socket, at the fewest sockets: what is committed is recognised, a second of audio each,
   * and with many sockets that is all that would be measured.
   */
  readonly commitRounds: number;
  /** `seconds` of one append a second from each of many. */
  readonly idle: {
    readonly fewest: number;
    readonly few: number;
    readonly many: number;
    readonly seconds: number;
  };
}

const FULL: Parameters = {
  appends: [
    { sockets: 100, rounds: 1 },
    { sockets: 300, rounds: 1 },
    { sockets: 1000, rounds: 3 },
  ],
  seconds: 4,
  warmOpens: 3,
  commitRounds: 2,
  idle: { fewest: 100, few: 1000, many: 10_000, seconds: 4 },
};

const QUICK: Parameters = {
  appends: [{ sockets: 20, rounds: 1 }],
  seconds: 1,
  warmOpens: 1,
  commitRounds: 1,
  idle: { fewest: 10, few: 20, many: 100, seconds: 1 },
};

interface Inspected extends Server {
  readonly pid: number;
  printed(): string;
}

interface Cast {
  readonly gateway: Inspected;
  /** Reads and forgets. */
  readonly sink: Inspected;
  /** Parses, and decodes base64. */
  readonly decode: Inspected;
}

async function castOf(context: Context): Promise<Cast> {
  const gateway = await context.start({ ...TONE, NODE_OPTIONS: INSPECTABLE });
  const env = { NODE_OPTIONS: INSPECTABLE };
  const sink = context.own(await startBaseline('web-socket', 'sink that only reads', ['sink'], env));
  const decode = context.own(
    await startBaseline('web-socket', 'sink that parses and decodes', ['decode'], env),
  );
  return { gateway, sink, decode };
}

function addressOf(server: Server): SocketAddress {
  const { hostname, port, pathname } = new URL(`${server.openai}/realtime`);
  return {
    host: hostname,
    port: Number(port),
    path: `${pathname}?model=gpt-realtime`,
    headers: authorizationOf(server),
  };
}

/** Sockets of one server, in a generator of their own. */
class Sockets {
  readonly #generator: Generator;

  constructor(
    private readonly context: Context,
    readonly server: Server,
  ) {
    this.#generator = context.anotherGenerator();
  }

  open(sockets: number): Promise<Phase> {
    return this.#do(`opening ${sockets} sockets`, { open: { ...addressOf(this.server), sockets } });
  }

  append(sockets: number, seconds: number, commits: boolean, rate = APPENDS_A_SECOND): Promise<Phase> {
    const what = `${sockets} sockets append${commits ? ' and commit' : ''}`;
    return this.#do(what, { append: { seconds, rate, commits } });
  }

  close(): Promise<void> {
    return this.#generator.stop();
  }

  #do(what: string, params: RealtimeTask): Promise<Phase> {
    return this.context.drive(this.server, what, this.#generator, { program: 'realtime', params });
  }
}

/** Microseconds of CPU of each request. */
const costOf = (phase: Phase): number => ((phase.cost?.process ?? Number.NaN) * 1000) / requestsIn(phase);

async function warmUp(
  context: Context,
  servers: readonly Inspected[],
  sockets: number,
  times: number,
): Promise<void> {
  for (const server of Array.from({ length: times }, () => servers).flat()) {
    const warming = new Sockets(context, server);
    await warming.open(sockets);
    await warming.close();
  }
}

async function measureAppends(
  context: Context,
  cast: Cast,
  { sockets, rounds }: Parameters['appends'][number],
  parameters: Parameters,
) {
  const isMost = sockets === parameters.appends.at(-1)?.sockets;
  const [own, sink, decode] = [cast.gateway, cast.sink, cast.decode].map(
    (server) => new Sockets(context, server),
  );
  const all = [own!, decode!, sink!];
  if (isMost) await warmUp(context, [cast.gateway, cast.sink], sockets, parameters.warmOpens);
  const opened = new Map<Sockets, Phase>();
  for (const each of all) opened.set(each, await each.open(sockets));
  for (const each of all) await each.append(sockets, 1, false);
  const appended = await interleaved(all, rounds, (each) => each.append(sockets, parameters.seconds, false));
  reportAppends(context, isMost ? 'realtime.append' : `realtime.append.${sockets}`, appended, cast);
  if (isMost) reportOpens(context, opened.get(own!)!, opened.get(sink!)!, cast);
  if (sockets === parameters.appends[0]?.sockets) {
    const commits = await interleaved([own!], parameters.commitRounds, (each) =>
      each.append(sockets, parameters.seconds, true),
    );
    reportCommits(context, commits.get(own!)!, appended.get(own!)!);
  }
  for (const each of all) await each.close();
}

function reportAppends(
  context: Context,
  name: string,
  appended: ReadonlyMap<Sockets, Phase>,
  cast: Cast,
): void {
  const phaseOf = (server: Server): Phase => [...appended].find(([each]) => each.server === server)![1];
  const [own, sink, decode] = [phaseOf(cast.gateway), phaseOf(cast.sink), phaseOf(cast.decode)];
  const figure = { subject: 'gateway', unit: 'µs', n: requestsIn(own), value: costOf(own) };
  context.add(
    {
      ...figure,
      name,
      baseline: { name: cast.decode.name, value: costOf(decode) },
      doubts: doubtsIn(own, decode),
    },
    {
      ...figure,
      name: `${name}.least`,
      baseline: { name: cast.sink.name, value: costOf(sink) },
      doubts: doubtsIn(own, sink),
    },
  );
}

function reportOpens(context: Context, own: Phase, bare: Phase, { sink }: Cast): void {
  const common = { subject: 'gateway', n: requestsIn(own), doubts: doubtsIn(own, bare) };
  const baseline = { name: sink.name, value: costOf(bare) };
  context.add({ name: 'realtime.open', unit: 'µs', value: costOf(own), baseline, ...common });
  const against = { name: sink.name, latencies: latenciesIn(bare, 'open') };
  context.add(...latencyFigures('realtime.opened', latenciesIn(own, 'open'), common, against));
}

/** The cost of a commit: that of appends with commits less that of appends alone. */
function reportCommits(context: Context, committed: Phase, appended: Phase): void {
  const answers = latenciesIn(committed, 'commit');
  const common = { subject: 'gateway', n: answers.n, doubts: doubtsIn(committed, appended) };
  const more = (costOf(committed) - costOf(appended)) * requestsIn(committed);
  context.add(...latencyFigures('realtime.commit', answers, common));
  context.add({ name: 'realtime.commit.cpu', unit: 'µs', value: more / answers.n, ...common });
  context.chart(
    percentileChart('realtime: a commit until it is acknowledged', { gateway: committed }, 'commit'),
  );
}

interface Idle {
  /** KiB a socket, between the fewest and few, and between few and many; after collections. */
  readonly early: number;
  readonly late: number;
  /** One append a second of each of many. */
  readonly slow: Phase;
}

async function idleOf(
  context: Context,
  server: Inspected,
  { fewest, few, many, seconds }: Parameters['idle'],
): Promise<Idle> {
  const sockets = new Sockets(context, server);
  const inspector = await Inspector.of(server);
  const resident = async (count: number): Promise<number> => {
    await sockets.open(count);
    return (await inspector.resident()) / 1024;
  };
  try {
    const [first, second, third] = [await resident(fewest), await resident(few), await resident(many)];
    const slow = await sockets.append(many, seconds, false, 1);
    return { early: (second - first) / (few - fewest), late: (third - second) / (many - few), slow };
  } finally {
    inspector.close();
    await sockets.close();
  }
}

async function measureIdle(
  context: Context,
  { gateway, sink }: Cast,
  idle: Parameters['idle'],
): Promise<void> {
  const [own, bare] = [await idleOf(context, gateway, idle), await idleOf(context, sink, idle)];
  const common = { subject: 'gateway', n: idle.many };
  const kib = { ...common, unit: 'KiB' };
  const socket = { name: sink.name, value: bare.late };
  const before = { name: `the same from ${idle.fewest} to ${idle.few} sockets`, value: own.early };
  context.add(
    { ...kib, name: 'realtime.idle', value: own.late - bare.late },
    { ...kib, name: 'realtime.idle.whole', value: own.late, baseline: socket },
    { ...kib, name: 'realtime.idle.growth', value: own.late, baseline: before },
    {
      ...common,
      name: 'realtime.append.slow',
      unit: 'µs',
      n: requestsIn(own.slow),
      value: costOf(own.slow),
      baseline: { name: sink.name, value: costOf(bare.slow) },
      doubts: doubtsIn(own.slow, bare.slow),
    },
  );
}

export default scenario<Parameters>({
  name: 'realtime',
  title: 'Realtime sockets: CPU of appends, commits and opens; memory of idle sockets',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    const cast = await castOf(context);
    for (const load of parameters.appends) await measureAppends(context, cast, load, parameters);
    await measureIdle(context, cast, parameters.idle);
  },
  environment: () => TONE,
  search: {
    unit: 'sockets',
    first: 5,
    // More than one generator can append for.
    most: 1300,
    async prepare(context, { seconds }, server) {
      return async (load, commits) => {
        const [sockets, count] = [new Sockets(context, server), Math.round(load)];
        await sockets.open(count);
        // Each commits once a second.
        const phase = await sockets.append(count, Math.max(seconds, Math.ceil(commits / count)), true);
        await sockets.close();
        return phase;
      };
    },
  },
});
