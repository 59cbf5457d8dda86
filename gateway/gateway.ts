/**
 * One gateway: everything between its port and the children, wired. The supervisor runs one in its own
 * process, or several in workers (WORKERS); either way it is given the same resources.
 */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../contracts/clock.js';
import { randomIds } from '../contracts/ids.js';
import { LIMITS } from '../contracts/limits.js';
import type { Log } from '../contracts/log.js';
import { openDatabase } from '../storage/database.js';
import { Children } from './children.js';
import type { Config } from './config.js';
import { nativeDialect } from './dialects/native/index.js';
import { platformDialect } from './dialects/platform/index.js';
import { protocolADialect } from './dialects/protocol-a/index.js';
import { protocolBDialect } from './dialects/protocol-b/index.js';
import { voicesDialect } from './dialects/voices/index.js';
import { openIdentity } from './identity.js';
import { startTracing } from './otel.js';
import { openPlatform } from './platform.js';
import { startRetention } from './recording-retention.js';
import { createRecordings } from './recordings.js';
import type { RoleSockets } from './roles.js';
import { Health } from './server/health.js';
import { listen } from './server/listen.js';
import { Metrics } from './server/metrics.js';
import type { Dialect } from './server/port.js';
import { openSessions } from './sessions.js';
import { openSpeech } from './speech.js';
import { openTransport } from './transport.js';

/** What the supervisor owns and every gateway uses. */
export interface Resources {
  readonly databaseUrl: string;
  readonly sockets: RoleSockets;
}

export interface RunningGateway {
  readonly port: number;
  /** Resolves once every child is connected. */
  readonly ready: Promise<void>;
  /** Takes nothing new, lets what runs end (30 s), then lets go of everything. Idempotent. */
  stop(): Promise<void>;
}

const clock = systemClock;
const ids = randomIds;
const GOODBYE_MS = 2000;

/** Beside the children's sockets: short, and ours alone. */
const signalSocketOf = ({ encode = [] }: RoleSockets): string =>
  join(dirname(encode[0] ?? join(tmpdir(), '-')), `signal-${process.pid}.sock`);

/** All parts, opened in the order in which they need one another; `letGo` closes them in reverse. */
async function openParts(config: Config, { databaseUrl, sockets }: Resources, log: Log) {
  const database = await openDatabase({ url: databaseUrl, log });
  const processId = randomUUID();
  const common = { config, database, processId, ids, clock, log };
  const children = new Children(sockets, log);
  const identity = await openIdentity(common);
  const { keys, admission } = identity;
  const voiced = await openSpeech({ ...common, children, admission });
  const platform = await openPlatform({ ...common, ...voiced, keys });
  const address = signalSocketOf(sockets);
  const recordings = createRecordings({ ...common, sql: database.sql, secrets: platform.secrets });
  const stopRetention = startRetention({ ...common, sql: database.sql });
  const sessions = await openSessions({ ...common, platform, admission, address, recordings });
  const transport = await openTransport({
    ...common,
    ...voiced,
    ...{ children, sessions, platform, admission, recordings, address },
  });
  const tracing = await startTracing(process.env, log);
  const letGo = async (): Promise<void> => {
    await transport.stop(0);
    await transport.close();
    await tracing.stop();
    stopRetention();
    await sessions.stop();
    await platform.stop();
    voiced.stop();
    await identity.stop();
    children.close();
    await database.close();
  };
  return { database, children, identity, voiced, platform, sessions, transport, letGo };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** A new protocol is one line here. */
function dialectsOf({ identity, voiced, platform, sessions, transport }: Parts, config: Config, log: Log) {
  const common = { ...identity, ...voiced, vocabulary: config.vocabulary, clock, log };
  const dialects: readonly Dialect[] = [
    nativeDialect(common),
    protocolADialect(common),
    protocolBDialect(common),
    voicesDialect(common),
    platformDialect(platform, sessions.routes(transport)),
    transport.dialect,
  ];
  return dialects;
}

/** What of the configuration the edge is made by. */
function edgeOf({
  httpStack: stack,
  host,
  port,
  workers,
  publicUrl,
  trustedProxies,
  tlsCert,
  tlsKey,
}: Config) {
  return {
    stack,
    host,
    port,
    exclusive: workers === 1,
    trustedProxies,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(tlsCert !== undefined && tlsKey !== undefined ? { tls: { certFile: tlsCert, keyFile: tlsKey } } : {}),
  };
}

/** Errors: `StorageFailure` for the database, a clear error for the port, the certificate and FFMPEG_PATH. */
export async function startGateway(config: Config, resources: Resources, log: Log): Promise<RunningGateway> {
  const parts = await openParts(config, resources, log);
  const { children, transport, identity } = parts;
  const health = new Health(['database', ...children.roles]);
  const metrics = new Metrics();
  children.addGauges(metrics);
  identity.addGauges(metrics);
  transport.addGauges(metrics);
  const stopWatching = children.watch(health, parts.database);
  const letGo = (): Promise<void> => {
    stopWatching();
    return parts.letGo();
  };
  const listening = await listen({
    ...edgeOf(config),
    ...{ ids, clock, log, metrics, health },
    dialects: dialectsOf(parts, config, log),
    load: { saturated: () => children.saturated },
  }).catch(async (error: unknown) => {
    await letGo();
    throw error;
  });

  const stop = async (): Promise<void> => {
    // Calls that go on tell their clients goodbye before their sockets are closed.
    await Promise.all([listening.drain(), transport.stop(LIMITS.http.drainMs - GOODBYE_MS)]);
    await listening.close();
    await letGo();
  };
  let stopped: Promise<void> | undefined;
  return { port: listening.port, ready: children.ready, stop: () => (stopped ??= stop()) };
}
