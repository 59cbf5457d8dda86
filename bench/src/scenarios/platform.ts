/** Sessions of the agent platform: creations against the same statements bare, reads, and lists of many. */
import { setTimeout as pause } from 'node:timers/promises';
import { type FigureInput, latencyFigures } from '../figures.js';
import {
  doubtsIn,
  failedFigure,
  interleaved,
  latenciesIn,
  type Phase,
  requestsIn,
  throughputOf,
} from '../measure/phase.js';
import { makeAgent, makeSession } from '../servers/agents.js';
import { type StartedServer, TONE } from '../servers/checkout.js';
import { connectDatabase, type DatabaseAddress, databaseOf, type Sql } from '../servers/database.js';
import { authorizationOf, type Server } from '../servers/server.js';
import type { Context } from './context.js';
import { bareCreation, clearPending, fillSessions } from './platform-rows.js';
import { scenario } from './scenario.js';

interface Parameters {
  readonly connections: number;
  /** In each round; fewer than a workspace may have waiting. */
  readonly requests: number;
  readonly rounds: number;
  readonly rows: number;
  /** Lists by their query, each read so many times. */
  readonly lists: Readonly<Record<string, string>>;
  readonly reads: number;
}

const FULL: Parameters = {
  connections: 16,
  requests: 600,
  rounds: 3,
  rows: 200_000,
  lists: {
    all: '',
    completed: 'status=completed',
    failed: 'status=failed',
    active: 'status=active',
    caller: 'caller_number=%2B49300',
    user: 'end_user_id=user_0',
    old: 'created_before=DAYS_150',
  },
  reads: 40,
};
const QUICK: Parameters = { ...FULL, requests: 60, rounds: 1, rows: 2000, reads: 20 };

interface Cast {
  readonly server: StartedServer;
  readonly sql: Sql;
  readonly database: DatabaseAddress;
  readonly agent: string;
  /** A session whose row others are copies of. */
  readonly sample: string;
}

const ENVIRONMENT = { ...TONE, CONCURRENCY: '1000000' };

async function castOf(context: Context, server: StartedServer): Promise<Cast> {
  const database = databaseOf(server);
  const sql = connectDatabase(database);
  context.own({ stop: () => sql.end() });
  const agent = await makeAgent(server, 'Bakery');
  const { session_id: sample } = await makeSession(server, agent);
  return { server, sql, database, agent, sample };
}

const jsonOf = (server: Server, path: string, field: string, body?: object) => ({
  request: {
    method: body === undefined ? 'GET' : 'POST',
    url: `${server.origin}/v1/agent/${path}`,
    headers: { ...authorizationOf(server), 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  },
  field,
});

async function measureCreations(context: Context, cast: Cast, { connections, requests, rounds }: Parameters) {
  const { server, sql, database, agent, sample } = cast;
  const bare: Server = { ...server, name: 'the same statements, bare' };
  const statements = await bareCreation(sql, agent, sample);
  const load = { concurrency: connections, requests };
  const ways = {
    api: () =>
      context.load(
        server,
        'creations',
        'json',
        jsonOf(server, 'sessions', 'token', { agent_id: agent }),
        load,
      ),
    bare: () => context.load(bare, 'creations', 'statement', { database, connections, statements }, load),
  };
  const run = async (way: () => Promise<Phase>): Promise<Phase> => {
    const phase = await way();
    await clearPending(sql, sample);
    return phase;
  };
  for (const way of [ways.api, ways.bare]) await run(way);
  const phases = await interleaved([ways.api, ways.bare], rounds, run);
  const [own, least] = [phases.get(ways.api)!, phases.get(ways.bare)!];
  const common = { subject: 'gateway', doubts: doubtsIn(own, least) };
  const n = requestsIn(own);
  const baseline = { name: bare.name, value: throughputOf(least) };
  context.add({
    name: 'sessions.create',
    unit: 'sessions/s',
    n,
    value: throughputOf(own),
    baseline,
    ...common,
  });
  context.add(...latencyFigures('sessions.create.e2e', latenciesIn(own, 'e2e'), common));
  context.add(failedFigure('sessions.create.failed', 'gateway', own));
}

const CREATING_SECONDS = 3;
const CLEAR_MS = 100;
const DAY_MS = 86_400_000;

/** `DAYS_150` becomes the instant 150 days ago. */
const queryOf = (query: string): string =>
  query.replace(/DAYS_(\d+)/, (_, days: string) =>
    encodeURIComponent(new Date(Date.now() - Number(days) * DAY_MS).toISOString()),
  );

/** The slowest of several medians, with the doubts of all; withheld where one is. */
function slowest(name: string, phases: readonly Phase[]): FigureInput {
  const medians = phases.map((phase) => latenciesIn(phase, 'e2e').percentile(50));
  const withheld = medians.flatMap((each) => ('withheld' in each ? [each.withheld] : []))[0];
  const value = Math.max(...medians.map((each) => ('value' in each ? each.value : Number.NaN)));
  const n = phases.reduce((sum, phase) => sum + requestsIn(phase), 0);
  return { name, subject: 'gateway', unit: 'ms', n, value, withheld, doubts: doubtsIn(...phases) };
}

async function measureLists(context: Context, { server }: Cast, { lists, reads }: Parameters): Promise<void> {
  for (const [name, more] of [
    ['sessions.list', ''],
    ['sessions.list.total', '&include_total=true'],
  ] as const) {
    const phases: Phase[] = [];
    for (const [filter, query] of Object.entries(lists)) {
      const params = jsonOf(server, `sessions?${queryOf(query)}${more}`, 'sessions');
      const what = `list of ${filter}${more === '' ? '' : ' with its total'}`;
      const phase = await context.load(server, what, 'json', params, { concurrency: 1, requests: reads });
      const common = { subject: 'gateway', doubts: doubtsIn(phase) };
      context.add(...latencyFigures(`${name}.${filter}`, latenciesIn(phase, 'e2e'), common, undefined, [50]));
      phases.push(phase);
    }
    context.add(slowest(name, phases));
  }
}

async function measureReads(
  context: Context,
  { server, sample }: Cast,
  { reads }: Parameters,
): Promise<void> {
  const params = jsonOf(server, `sessions/${sample}`, 'session_id');
  const phase = await context.load(server, 'reads', 'json', params, { concurrency: 1, requests: reads * 5 });
  const common = { subject: 'gateway', doubts: doubtsIn(phase) };
  context.add(...latencyFigures('sessions.read', latenciesIn(phase, 'e2e'), common));
}

/** Sessions that are created and not joined are deleted meanwhile: a workspace may have a thousand. */
async function createOpenly(
  context: Context,
  { server, sql, agent, sample }: Cast,
  rate: number,
  requests: number,
): Promise<Phase> {
  const seconds = Math.max(CREATING_SECONDS, requests / rate);
  const arrivals = { kind: context.options.arrivals, rate, seconds, seed: 1 };
  const params = jsonOf(server, 'sessions', 'token', { agent_id: agent });
  let isOver = false;
  const clearing = (async (): Promise<void> => {
    for (; !isOver; await pause(CLEAR_MS)) await clearPending(sql, sample);
  })();
  try {
    return await context.load(server, `${rate} creations a second`, 'json', params, { arrivals });
  } finally {
    isOver = true;
    await clearing;
  }
}

export default scenario<Parameters>({
  name: 'platform',
  title: 'Sessions of the agent platform: creations, reads, lists of many',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    const cast = await castOf(context, await context.start(ENVIRONMENT));
    await measureCreations(context, cast, parameters);
    context.say(`filling in ${parameters.rows} sessions`);
    await fillSessions(cast.sql, cast.sample, parameters.rows);
    await measureReads(context, cast, parameters);
    await measureLists(context, cast, parameters);
  },
  environment: () => ENVIRONMENT,
  search: {
    unit: 'sessions/s',
    first: 10,
    most: 10_000,
    async prepare(context, _parameters, server) {
      if (!('dataDir' in server)) throw new Error(`${server.name}: its database is not at hand`);
      const cast = await castOf(context, server as StartedServer);
      return (rate, requests) => createOpenly(context, cast, rate, requests);
    },
  },
});
