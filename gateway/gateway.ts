/**
 * One gateway: everything between its port and the children, wired. The supervisor runs one in its own
 * process, or several in workers (WORKERS); either way it is given the same resources.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../contracts/clock.js';
import { CALL_TIMES } from '../contracts/limits/call-times.js';
import { randomIds } from '../contracts/ids.js';
import type { Log } from '../contracts/log.js';
import type { JobHandlers } from '../contracts/ports/jobs.js';
import { collectHere } from '../processes/idle-collection.js';
import { type Database, openDatabase } from '../storage/postgres/database.js';
import { agentsWithVoices } from '../storage/agents/voices-in-use.js';
import { OwnNode } from '../storage/nodes.js';
import { databasePart } from './wiring/parts.js';
import { certificateOf } from './wiring/check-settings.js';
import { Children } from './wiring/children.js';
import type { Config } from './config.js';
import { agentDoor } from './dialects/agent-realtime/index.js';
import { nativeDialect } from './dialects/native/index.js';
import { operationDialect, type OperationParts } from './dialects/operation/index.js';
import { platformDialect } from './dialects/platform/index.js';
import { phoneNumberRoutes } from './dialects/platform/phone-numbers.js';
import { protocolADialect } from './dialects/protocol-a/index.js';
import { protocolBDialect } from './dialects/protocol-b/index.js';
import { voicesDialect } from './dialects/voices/index.js';
import { GatewayDrain } from './wiring/drain.js';
import { followEngines, readEngines, withModels } from './wiring/engine-news.js';
import { shareFigures } from './wiring/figures.js';
import { openIdentity } from './wiring/identity.js';
import { addNodeMetrics, nodeUrl, VERSION } from './wiring/nodes.js';
import { openModelShelf } from './wiring/model-shelf.js';
import { openSpool } from './wiring/spool.js';
import { configuredChecks, startChecks } from './wiring/start-checks.js';
import { startTracing } from './wiring/tracing.js';
import { openPlatform } from './wiring/platform.js';
import { addKeptSpeechMetrics, addMemoryMetrics, openMemory } from './wiring/memory.js';
import { openRecordings } from './wiring/recordings.js';
import type { RoleSockets } from './wiring/roles.js';
import { auditedDialect } from './server/audit.js';
import { PartKeeper } from './server/parts/keeper.js';
import { Health } from './server/system/health.js';
import { listen } from './server/listen.js';
import type { CertificateFiles } from './server/certificate.js';
import { Metrics } from './server/system/metrics.js';
import type { Dialect } from './server/port.js';
import { tracedDialect } from './server/tracing/trace-requests.js';
import { openAgentTests } from './wiring/agent-tests.js';
import { openSessions } from './wiring/sessions.js';
import { type OpenSpeech, openSpeech } from './wiring/speech.js';
import { embeddedRecognisers, warmUp } from './wiring/warm-up.js';
import { watchStorage } from './wiring/storage-health.js';
import { openTransport } from './wiring/transport/transport.js';

/** The resources that the supervisor owns and every gateway uses. */
export interface Resources {
  readonly databaseUrl: string;
  /** The folder of sockets, pid files and uploads: its path is short, and it is ours alone. */
  readonly runtimeFolder: string;
  /** A name that all gateway processes of this supervisor share, and no other has. */
  readonly installation: string;
  readonly sockets: RoleSockets;
  /** The sockets of the other gateway processes of this machine (WORKERS). */
  readonly peers?: readonly string[];
  /** Whether it is the first of them. Absent: it is. */
  readonly isFirst?: boolean;
}

export interface RunningGateway {
  readonly port: number;
  /** The jobs that it does for the other gateway processes. */
  readonly jobs: JobHandlers;
  /** Resolves once every child is connected, and `/health` says so. */
  readonly ready: Promise<void>;
  /** Refuses new work, drains (calls for DRAIN_SECONDS, everything else for 30 s), then releases everything. Idempotent. */
  stop(): Promise<void>;
  /** Shortens the drain, once `stop` was called: ten seconds from now. */
  hurry(): void;
}

const clock = systemClock;
const ids = randomIds;

const connectionsOf = ({
  databaseDirectUrl: directUrl,
  databasePrepare: prepare,
  databaseWaitSeconds: seconds,
}: Config) => ({
  directUrl,
  patienceMs: seconds * 1000,
  prepare: prepare === 'auto' ? undefined : prepare === 'true',
});

/** The models that the console adds to this machine. */
const openShelf = (
  config: Config,
  { database, voiced }: { readonly database: Database; readonly voiced: OpenSpeech },
  runtimeFolder: string,
  log: Log,
) =>
  openModelShelf({
    ...{ config, runtimeFolder, clock, log },
    voices: voiced.voices,
    choice: () => voiced.choice,
    agentsWithVoices: (voiceIds) => agentsWithVoices(database.asked, voiceIds),
  });

/** Opens all parts in the order of their dependencies. */
async function openParts(config: Config, resources: Resources, log: Log) {
  const { databaseUrl, runtimeFolder, installation, sockets } = resources;
  const keeper = new PartKeeper({ clock, log });
  const database = await openDatabase({ url: databaseUrl, ...connectionsOf(config), log });
  const processId = randomUUID();
  const address = join(runtimeFolder, `signal-${process.pid}.sock`);
  const memory = openMemory(config);
  const spooled = await openSpool(config);
  const common = { config, database, memory, keeper, processId, installation, ids, clock, log };
  const node = await OwnNode.open({
    ...common,
    sql: database.urgent,
    address,
    version: VERSION,
    // In livekit mode another process could join the room of a call by itself.
    ...(config.livekit ? {} : { aloneSilentMs: CALL_TIMES.aloneAwayMs }),
  });
  const children = new Children({ sockets, keeper, clock, log });
  const shared = { ...common, clock: node.clock };
  const identity = await openIdentity(shared);
  const { keys, admission } = identity;
  const voiced = await openSpeech({ ...shared, children, admission, runtimeFolder });
  const platform = await openPlatform({ ...shared, ...voiced, keys });
  const recorded = await openRecordings({ ...shared, secrets: platform.secrets });
  const { recordings } = recorded;
  const sessions = await openSessions({ ...shared, platform, admission, recordings, node });
  const transport = await openTransport({
    ...shared,
    ...voiced,
    children,
    sessions,
    platform,
    admission,
    recordings,
    address,
    node,
  });
  const tests = await openAgentTests({ ...shared, ...voiced, platform, sessions, transport, admission });
  const shelf = openShelf(config, { database, voiced }, runtimeFolder, log);
  const tracing = await startTracing(process.env, log);
  return {
    database,
    memory,
    keeper,
    spooled,
    node,
    children,
    identity,
    voiced,
    platform,
    recorded,
    sessions,
    tests,
    transport,
    shelf,
    tracing,
  };
}

export type GatewayParts = Awaited<ReturnType<typeof openParts>>;

/** Closes them in reverse. */
async function closeParts(parts: GatewayParts): Promise<void> {
  // Before the transport: tests by voice hold calls of it.
  parts.shelf.stop();
  await parts.tests.stop();
  await parts.transport.stop(Promise.resolve(), Promise.resolve());
  await parts.transport.close();
  await parts.tracing.stop();
  await parts.recorded.stop();
  await parts.sessions.stop();
  await parts.node.stop();
  await parts.platform.stop();
  parts.voiced.stop();
  await parts.identity.stop();
  parts.children.close();
  await parts.database.close();
  parts.keeper.stop();
}

/** A new protocol is one line here. */
export function dialectsOf(
  { node, identity, voiced, platform, sessions, tests, transport, shelf, memory }: GatewayParts,
  config: Config,
  log: Log,
  history: OperationParts['history'],
) {
  const { vocabulary, pcmRates } = config;
  const common = { ...identity, ...voiced, vocabulary, clock: node.clock, log };
  const conversations = { sessions: sessions.sockets, calls: transport.socketCalls };
  const agents = agentDoor({ ...common, memory, ...conversations });
  const dialects: readonly Dialect[] = [
    nativeDialect(common),
    protocolADialect({ ...common, pcmRates, agents }),
    protocolBDialect({ ...common, conversations }),
    tracedDialect(voicesDialect(common), common),
    tracedDialect(
      platformDialect(platform, [
        ...sessions.routes(transport),
        ...tests.routes(),
        ...phoneNumberRoutes({ ...platform, numbers: transport.numbers }),
        ...sessions.callRoutes(transport.dialling),
      ]),
      common,
    ),
    ...transport.dialects,
    operationDialect({ ...common, history, shelf, keysMakeKeys: config.consoleKeys === 'true' }),
  ];
  return dialects.map((dialect) => auditedDialect(dialect, platform.audit));
}

/** The edge's part of the configuration. */
function edgeOf(
  { httpStack: stack, dataDir, host, port, workers, publicUrl, trustedProxies, drainAnnounceSeconds }: Config,
  tls: CertificateFiles | undefined,
) {
  return {
    stack,
    cacheFolder: join(dataDir, 'cache'),
    host,
    port,
    exclusive: workers === 1,
    announceMs: drainAnnounceSeconds * 1000,
    trustedProxies,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function metricsOf(parts: GatewayParts, health: Health): Metrics {
  const metrics = new Metrics();
  health.addTo(metrics);
  parts.keeper.addTo(metrics);
  parts.children.addMetrics(metrics);
  parts.identity.addGauges(metrics);
  addMemoryMetrics(metrics, parts.memory);
  addKeptSpeechMetrics(metrics, parts.voiced.keptSpeech);
  parts.spooled.addGauge(metrics);
  parts.recorded.addGauges(metrics);
  parts.sessions.addMetrics(metrics);
  parts.transport.addMetrics(metrics);
  addNodeMetrics(metrics, parts.node, parts.transport.figures().places);
  return metrics;
}

const warmModels = ({ database, children, voiced }: GatewayParts, { sockets }: Resources, log: Log) =>
  warmUp({
    sql: database.sql,
    clock,
    log,
    turns: voiced.turns.inUse?.model,
    denoiser: voiced.denoiser.inUse,
    recognisers: embeddedRecognisers(sockets, children),
  });

/** Asks the parts something cheap, beside the start. The result stops it. */
function checkParts(
  config: Config,
  { keeper, recorded }: GatewayParts,
  { isFirst: asksAll = true }: Resources,
  log: Log,
) {
  if (config.startChecks === 'off') return (): void => undefined;
  return startChecks({
    checks: [...configuredChecks(config), ...recorded.checks],
    keeper,
    asksAll,
    clock,
    log,
  });
}

function readyOf(children: Children, health: Health): Promise<void> {
  const ready = children.ready.then(() => health.started);
  // A stop before that is no fault of whoever did not wait.
  ready.catch(() => undefined);
  return ready;
}

/** Takes up what the supervisor tells of models that were added or removed. The result stops it. */
const followModels = (
  config: Config,
  { voiced, children }: GatewayParts,
  { runtimeFolder: folder }: Resources,
  log: Log,
) =>
  followEngines({
    ...{ folder, clock, log },
    use({ choice, sockets }) {
      voiced.use(withModels(config, choice));
      children.use(sockets);
    },
  });

/** What a gateway does for itself beside serving: it warms models, watches its parts and its storage, and follows the supervisor. */
function startUpkeep(
  config: Config,
  resources: Resources,
  parts: GatewayParts,
  health: Health,
  log: Log,
): { storageFull(): void; stop(): void } {
  const { children, database } = parts;
  const stopWarming = warmModels(parts, resources, log);
  const stopWatching = children.watch(health, { database, part: databasePart(config) });
  const storage = watchStorage({ health, database, dataDir: config.dataDir, clock, log });
  const stopChecks = checkParts(config, parts, resources, log);
  const stopFollowing = followModels(config, parts, resources, log);
  const stopCollecting = collectHere(clock);
  return {
    storageFull: () => storage.full(),
    stop() {
      stopCollecting();
      stopChecks();
      stopFollowing();
      stopWarming();
      stopWatching();
      storage.stop();
    },
  };
}

/** With the models that the supervisor has told of since this process was given its resources. */
async function asToldNow(config: Config, resources: Resources): Promise<readonly [Config, Resources]> {
  const told = await readEngines(resources.runtimeFolder);
  if (!told) return [config, resources];
  return [withModels(config, told.choice), { ...resources, sockets: told.sockets }];
}

/** Errors: `StorageFailure` for the database, a clear error for the port, the certificate and FFMPEG_PATH. */
export async function startGateway(
  given: Config,
  ownResources: Resources,
  log: Log,
): Promise<RunningGateway> {
  const [config, resources] = await asToldNow(given, ownResources);
  const parts = await openParts(config, resources, log);
  const { children, transport, identity } = parts;
  const health = new Health(['database', ...children.needed], clock, log);
  const metrics = metricsOf(parts, health);
  const figures = shareFigures({ metrics, keeper: parts.keeper, clock, log, peers: resources.peers ?? [] });
  const upkeep = startUpkeep(config, resources, parts, health, log);
  const letGo = (): Promise<void> => {
    upkeep.stop();
    figures.close();
    return closeParts(parts);
  };
  const listening = await listen({
    ...edgeOf(config, certificateOf(config)),
    ids,
    clock,
    log,
    metrics,
    health,
    memory: parts.memory,
    spool: parts.spooled.spool,
    dialects: dialectsOf(parts, config, log, figures.history),
    scraping: { keys: identity.keys, token: config.metricsToken, figures: figures.read },
    partReports: figures.partReports,
    load: { thresholds: { loopDelayMs: config.shedDelayMs } },
    storageFull: upkeep.storageFull,
  }).catch(async (error: unknown) => {
    await letGo();
    throw error;
  });

  parts.node.serve(nodeUrl(config, listening.port), transport.figures);
  const ready = readyOf(children, health);
  const drain = new GatewayDrain({ config, listening, transport, clock, log, letGo });
  return {
    port: listening.port,
    jobs: figures.jobs,
    ready,
    stop() {
      void parts.tests.stop();
      return drain.begin();
    },
    hurry: () => drain.hurry(),
  };
}
