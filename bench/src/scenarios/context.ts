/** The tools of a scenario: servers, a load generator, a place for its figures. Everything it starts ends with it. */
import { type Figure, figureOf, type FigureInput } from '../figures.js';
import { Generator } from '../generator/generator.js';
import type { Load, Task } from '../generator/protocol.js';
import { failuresIn, measure, type Phase } from '../measure/phase.js';
import type { Options } from '../options.js';
import type { Chart, ClipReport, Table } from '../report/report.js';
import { type Environment, startCheckout, type StartedServer } from '../servers/checkout.js';
import { reachServer } from '../servers/remote.js';
import type { Server } from '../servers/server.js';
import { startBareHttp } from '../baselines/baseline.js';

export const DEADLINE_MS = 30_000;

export class Context {
  readonly figures: Figure[] = [];
  readonly charts: Chart[] = [];
  readonly clips: ClipReport[] = [];
  readonly tables: Table[] = [];
  readonly remarks: string[] = [];
  readonly failures: Record<string, Record<string, number>> = {};
  readonly #started: (() => Promise<unknown>)[] = [];
  #generator: Generator | undefined;
  #isClosed = false;

  constructor(
    readonly name: string,
    readonly options: Options,
    /** Shows a line of progress; the next one takes its place. */
    readonly say: (text: string) => void,
    /** Which of the scenario's kinds are wanted; empty: all. */
    readonly kinds: readonly string[] = [],
  ) {}

  /** Ends what has been started, the latest first. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#started.splice(0).reverse()) await stop();
  }

  /** Has it stopped when the scenario ends. Throws Error, and stops it, where the scenario was interrupted meanwhile. */
  own<T extends { stop(): Promise<unknown> }>(started: T): T {
    if (this.#isClosed) {
      void started.stop();
      throw new Error('interrupted');
    }
    this.#started.push(() => started.stop());
    return started;
  }

  get generator(): Generator {
    return (this.#generator ??= this.own(new Generator()));
  }

  /** A second one, for load beside the load. */
  anotherGenerator(): Generator {
    return this.own(new Generator());
  }

  /** A gateway of the checkout. Throws Error where there is none. */
  async start(env: Environment): Promise<StartedServer> {
    const { checkout } = this.options;
    if (checkout === undefined) throw new Error('there is neither --url nor --checkout');
    this.say('starting a gateway');
    const starting = startCheckout(checkout, env);
    // Before it is ready: an interruption stops it, too.
    this.own({
      stop: () =>
        starting.then(
          (server) => server.stop(),
          () => undefined,
        ),
    });
    return starting;
  }

  /** The server under test: that of `--url`, else a gateway with this environment. */
  server(env: Environment): Promise<Server> {
    const { url, key, pcmRate } = this.options;
    return url === undefined ? this.start(env) : reachServer({ name: 'gateway', url, key, pcmRate });
  }

  peers(): Promise<Server[]> {
    const { peers, pcmRate } = this.options;
    return Promise.all(peers.map((peer) => reachServer({ ...peer, pcmRate })));
  }

  /** The least work for the same bytes, or a handler that streams them; undefined where the server is elsewhere, which it would not be compared with. */
  async bareHttp(server: Server, body: Buffer, type: string, piece?: number): Promise<Server | undefined> {
    return server.pid === undefined ? undefined : this.own(await startBareHttp(body, type, piece));
  }

  /** One load of requests, with its progress shown and its failures kept. */
  load(
    server: Server,
    what: string,
    client: string,
    params: unknown,
    load: Load,
    { generator = this.generator, deadline = DEADLINE_MS }: { generator?: Generator; deadline?: number } = {},
  ): Promise<Phase> {
    return this.drive(server, what, generator, { client, params, load, deadline });
  }

  /** The same of any task of a generator. */
  async drive(
    server: Pick<Server, 'name' | 'pid'>,
    what: string,
    generator: Generator,
    task: Task,
  ): Promise<Phase> {
    this.say(`${what}, ${server.name}`);
    const phase = await measure(server, generator, task, ({ begun, ended }) =>
      this.say(`${what}, ${server.name}: ${begun} sent, ${ended} answered`),
    );
    this.noteFailures(server.name, phase);
    return phase;
  }

  noteFailures(server: string, phase: Phase): void {
    for (const [reason, count] of Object.entries(failuresIn(phase))) {
      const known = (this.failures[server] ??= {});
      known[reason] = (known[reason] ?? 0) + count;
    }
  }

  /** Adds figures; those that a phase gave share its doubts. */
  add(...figures: readonly FigureInput[]): void {
    this.figures.push(...figures.map((figure) => figureOf(figure)));
  }

  chart(...charts: readonly Chart[]): void {
    this.charts.push(...charts);
  }

  /** Reports what callers say: each clip once, however often the scenario records it. */
  noteClips(...clips: readonly ClipReport[]): void {
    for (const { name, text, origin, source } of clips)
      if (!this.clips.some((clip) => clip.name === name && clip.text === text && clip.source === source))
        this.clips.push({ name, text, origin, source });
  }
}
