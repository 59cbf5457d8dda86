/**
 * One gateway: everything between its port and the children, wired. The supervisor runs one in its own
 * process, or several in workers (WORKERS); either way it is given the same resources.
 */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDecode } from '../codecs/decode/decoder.js';
import { createEncode } from '../codecs/encode/encoder.js';
import { systemClock } from '../contracts/clock.js';
import { randomIds } from '../contracts/ids.js';
import type { Log } from '../contracts/log.js';
import { createAdmission } from '../engines/admission.js';
import type { RunningAdmission } from '../engines/admission.js';
import { createSpeech } from '../engines/synthesize.js';
import { createTranscription } from '../engines/transcribe.js';
import { createVoices } from '../engines/voices.js';
import { createPool, type Pool } from '../processes/pool.js';
import { type Database, openDatabase } from '../storage/database.js';
import { createKeyAuthority } from '../storage/keys.js';
import { createSlotLeases } from '../storage/leases.js';
import { createUsageStore, type Quotas } from '../storage/usage.js';
import { createClonedVoices } from '../storage/voices.js';
import { createWallet } from '../storage/wallet.js';
import type { Config } from './config.js';
import { nativeDialect } from './dialects/native/index.js';
import { protocolADialect } from './dialects/protocol-a/index.js';
import { voicesDialect } from './dialects/voices/index.js';
import { reachEngines } from './engines.js';
import type { RoleName, RoleSockets } from './roles.js';
import { Health } from './server/health.js';
import { listen } from './server/listen.js';
import { Metrics } from './server/metrics.js';

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
const HEALTH_MS = 2000;
const DECODE_ONCE = fileURLToPath(new URL('./workers/decode-once.js', import.meta.url));
/** Of this user: a folder that another one made could not be written. */
const UPLOADS = join(tmpdir(), `speech-gateway-${process.getuid?.() ?? 'uploads'}`);

type Pools = ReadonlyMap<RoleName, Pool>;

const openPools = (sockets: RoleSockets, log: Log): Pools =>
  new Map(
    Object.entries(sockets).map(([role, paths]) => [role as RoleName, createPool({ sockets: paths, log })]),
  );

function poolOf(pools: Pools, role: RoleName): Pool {
  const pool = pools.get(role);
  if (pool) return pool;
  throw new Error(`no children run as ${role}`);
}

const isConnected = (pool: Pool): boolean => pool.state().some(({ connected }) => connected);

/** Looks now and again whether the database answers and the children are connected. */
function watchHealth(health: Health, database: Database, pools: Pools): () => void {
  const look = async (): Promise<void> => {
    for (const [role, pool] of pools) health.set(role, isConnected(pool));
    health.set('database', await database.answers());
  };
  for (const pool of pools.values()) pool.ready().then(look, () => undefined);
  const timer = setInterval(() => void look(), HEALTH_MS);
  return () => clearInterval(timer);
}

function addGauges(metrics: Metrics, pools: Pools, admission: RunningAdmission): void {
  const children = (read: (child: ReturnType<Pool['state']>[number]) => number) => () =>
    [...pools].flatMap(([role, pool]) =>
      pool.state().map((child, index) => ({ labels: { role, index }, value: read(child) })),
    );
  const labels = ['role', 'index'];
  metrics.gauge(
    'child_connected',
    'Whether a child is connected',
    children((child) => Number(child.connected)),
    labels,
  );
  metrics.gauge(
    'child_jobs_running',
    'Jobs that a child runs',
    children(({ running }) => running),
    labels,
  );
  metrics.gauge(
    'child_jobs_queued',
    'Jobs that wait in a child',
    children(({ queued }) => queued),
    labels,
  );
  metrics.gauge(
    'speech_jobs_running',
    'Synthesis and transcription jobs admitted here',
    () => admission.state().used,
  );
  metrics.gauge(
    'speech_slots_held',
    'Concurrency slots that this process leases',
    () => admission.state().held,
  );
}

const quotasOf = ({ quotaCharacters, quotaTranscriptionSeconds: seconds }: Config): Quotas => ({
  ...(quotaCharacters === undefined ? {} : { synthesis_characters: quotaCharacters }),
  ...(seconds === undefined ? {} : { transcription_ms: seconds * 1000 }),
});

/** Jobs that wait in each child of a role before new requests are shed. */
const SATURATED = 48;

const isSaturated = (pools: Pools): boolean =>
  [...pools.values()].some((pool) => pool.state().every(({ queued }) => queued > SATURATED));

const tlsOf = ({ tlsCert, tlsKey }: Config) =>
  tlsCert !== undefined && tlsKey !== undefined ? { tls: { certFile: tlsCert, keyFile: tlsKey } } : {};

/** Errors: `StorageFailure` for the database, a clear error for the port, the certificate and FFMPEG_PATH. */
export async function startGateway(config: Config, resources: Resources, log: Log): Promise<RunningGateway> {
  const decode = createDecode({
    tempFolder: UPLOADS,
    decodeOnce: DECODE_ONCE,
    ffmpegPath: config.ffmpegPath,
  });
  const database = await openDatabase({ url: resources.databaseUrl, log });
  const keys = await createKeyAuthority({ database, clock, log });
  const defaultLimit = config.concurrency;
  const leases = createSlotLeases({ ...database, processId: randomUUID(), defaultLimit });
  const usage = createUsageStore(database.sql, quotasOf(config));
  const admission = createAdmission({ leases, usage, clock, log, defaultLimit });
  const pools = openPools(resources.sockets, log);
  const registry = reachEngines(config, (role) => poolOf(pools, role));
  const encode = createEncode(poolOf(pools, 'encode'));
  const cloned = await createClonedVoices({ database, ids: randomIds, clock, log });
  const voices = createVoices(registry.speakers, cloned);
  const speech = createSpeech({ registry, voices, admission, encode });
  const transcription = createTranscription({ registry, admission, decode });
  const { vocabulary } = config;

  const health = new Health(['database', ...pools.keys()]);
  const metrics = new Metrics();
  addGauges(metrics, pools, admission);
  const stopWatching = watchHealth(health, database, pools);
  const letGo = async (): Promise<void> => {
    stopWatching();
    keys.stop();
    cloned.stop();
    await admission.stop();
    for (const pool of pools.values()) pool.close();
    await database.close();
  };

  const listening = await listen({
    stack: config.httpStack,
    host: config.host,
    port: config.port,
    exclusive: config.workers === 1,
    ...tlsOf(config),
    ...(config.publicUrl === undefined ? {} : { publicUrl: config.publicUrl }),
    trustedProxies: config.trustedProxies,
    dialects: [
      nativeDialect({ speech, transcription, keys, vocabulary, clock, log }),
      protocolADialect({ speech, transcription, keys, vocabulary }),
      voicesDialect({ voices, wallet: createWallet(database.sql, quotasOf(config)), decode, keys }),
    ],
    ids: randomIds,
    clock,
    log,
    metrics,
    health,
    load: { saturated: () => isSaturated(pools) },
  }).catch(async (error: unknown) => {
    await letGo();
    throw error;
  });

  const stop = async (): Promise<void> => {
    await listening.drain();
    await listening.close();
    await letGo();
  };
  let stopped: Promise<void> | undefined;
  const ready = Promise.all([...pools.values()].map((pool) => pool.ready())).then(() => undefined);
  ready.catch(() => undefined);
  return { port: listening.port, ready, stop: () => (stopped ??= stop()) };
}
