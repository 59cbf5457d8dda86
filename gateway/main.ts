/**
 * The supervisor: owns the database of the installation, the children and the port; with WORKERS=1 it is the
 * gateway as well. A start either ends ready, or says in one line why not and leaves nothing behind.
 */
import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../contracts/clock.js';
import { BUILT } from '../contracts/places.js';
import { randomIds } from '../contracts/ids.js';
import type { Log } from '../contracts/log.js';
import { superviseRole } from '../processes/supervisor/supervise.js';
import { openDatabase } from '../storage/postgres/database.js';
import { prepareDataDir, startEmbeddedPostgres } from '../storage/embedded.js';
import { ensureFirstKey, type FirstKey } from '../storage/keys/first-key.js';
import { migrate, migrationLog, MIGRATIONS } from '../storage/postgres/migrate.js';
import { ensureDefaultWorkspace } from '../storage/workspaces.js';
import { type Config, readConfig } from './config.js';
import { littleMemory } from './config/memory-budget.js';
import { misspeltSettings, unusedSettings } from './config/suspicions.js';
import type { Resources } from './gateway.js';
import { checkSettings } from './wiring/check-settings.js';
import { explain } from './wiring/explain.js';
import { addressOf, greeting, type Ready } from './wiring/greeting.js';
import { createLog, logOutput, takeLines } from './wiring/log.js';
import { say } from './wiring/logging/say.js';
import { takeStrays } from './wiring/logging/strays.js';
import { drainMs, HURRIED_LEAVE_MS, leaveMs } from './wiring/drain.js';
import { ModelWatch } from './wiring/model-watch.js';
import { RoleChildren } from './wiring/role-children.js';
import { openRuntimeFolder } from './wiring/runtime-folder.js';
import { onShutdown } from './wiring/shutdown.js';

/** The resources that a start has opened; `stop` closes them in reverse. */
class Opened {
  readonly #closers: (() => Promise<unknown>)[] = [];

  add<T extends { stop(): Promise<unknown> }>(part: T): T {
    this.#closers.push(() => part.stop());
    return part;
  }

  async stop(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}

const worker = (name: string): URL => new URL(`gateway/workers/${name}.js`, BUILT);

/** Brings the database up to date and makes sure of a key. */
async function prepareDatabase(url: string, config: Config, log: Log): Promise<FirstKey> {
  const patienceMs = config.databaseWaitSeconds * 1000;
  const database = await openDatabase({ url, log, connections: 1, patienceMs, slow: true });
  try {
    const migrated = migrationLog(log);
    await migrate(database.sql, MIGRATIONS, (applied) => migrated.note(applied));
    migrated.end();
    const workspaceId = await ensureDefaultWorkspace(database.sql, randomIds);
    const { dataDir, apiKey } = config;
    return await ensureFirstKey({ sql: database.sql, ids: randomIds, workspaceId, dataDir, apiKey });
  } finally {
    await database.close();
  }
}

/** Loads the gateway's own code late: it is most of the code, and a supervisor of workers or a failing start never needs it. */
const loadGateway = () => import('./gateway.js');

/** The log, and what takes the lines that gateway workers print. */
interface Logs {
  readonly log: Log;
  readonly takesLines: ReturnType<typeof takeLines>;
}

function openLogs({ logLevel, logFormat }: Config): Logs {
  const destination = logOutput(logFormat);
  const log = createLog(logLevel, destination);
  takeStrays(log);
  return { log, takesLines: takeLines(destination, log) };
}

/** The running gateway, or all gateway workers. */
interface Serving {
  readonly port: number;
  /** Shortens a drain that has begun. */
  hurry(): void;
}

/** One gateway here, or several in workers that share the port. Resolves when they are ready. */
async function serve(
  config: Config,
  resources: Resources,
  opened: Opened,
  { log, takesLines }: Logs,
): Promise<Serving> {
  if (config.workers === 1) {
    const { startGateway } = await loadGateway();
    const gateway = opened.add(await startGateway(config, resources, log));
    await gateway.ready;
    return gateway;
  }
  // Workers are gateways themselves, so they get the whole environment.
  const env = { ...process.env, GATEWAY_RESOURCES: JSON.stringify(resources) };
  const gateways = await superviseRole({
    role: 'gateway',
    entry: worker('gateway'),
    count: config.workers,
    socketFolder: resources.runtimeFolder,
    stopMs: leaveMs(config),
    servesBeforeHello: true,
    env,
    log,
    output: takesLines,
  });
  await opened.add(gateways).ready();
  return { port: config.port, hurry: () => gateways.hurry(HURRIED_LEAVE_MS) };
}

/** Starts embedded Postgres, and returns its address. It is stopped, too, if it is still starting when everything is. */
async function startPostgres(dataDir: string, opened: Opened, log: Log): Promise<string> {
  const stopping = new AbortController();
  const starting = startEmbeddedPostgres({ dataDir, log, signal: stopping.signal });
  opened.add({
    async stop() {
      stopping.abort();
      await (await starting.catch(() => undefined))?.stop();
    },
  });
  return (await starting).url;
}

async function start(
  config: Config,
  opened: Opened,
  logs: Logs,
): Promise<Serving & { readonly ready: Ready }> {
  const { log } = logs;
  await checkSettings(config);
  const { dataDir } = config;
  prepareDataDir(dataDir);
  const { path: runtimeFolder } = opened.add(await openRuntimeFolder(dataDir));
  const common = { config, runtimeFolder, drainMs: drainMs(config), clock: systemClock, log };
  const children = opened.add(new RoleChildren({ ...common, socketFolder: runtimeFolder }));
  const started = children.start(config);
  started.catch(() => undefined);
  // Loads while Postgres and the children start.
  if (config.workers === 1) loadGateway().catch(() => undefined);
  const databaseUrl = config.databaseUrl ?? (await startPostgres(dataDir, opened, log));
  const firstKey = await prepareDatabase(config.databaseDirectUrl ?? databaseUrl, config, log);
  await started;
  const watch = opened.add(
    new ModelWatch({ ...common, children, readConfig: () => readConfig(process.env) }),
  );
  watch.begin();
  const { sockets } = children;
  const resources = { databaseUrl, runtimeFolder, installation: randomUUID(), sockets };
  const serving = await serve(config, resources, opened, logs);
  const { port } = serving;
  return { port, hurry: () => serving.hurry(), ready: { config, port, firstKey } };
}

/** Greets whoever started it, and says in the log that it is ready. The log never holds the key. */
function greet(ready: Ready, log: Log, ms: number): void {
  const { config, firstKey } = ready;
  const keyFile = 'file' in firstKey ? firstKey.file : undefined;
  log.info({ address: addressOf(ready), keyFile, ms: Math.round(ms) }, 'the gateway is ready');
  if (config.logFormat !== 'json') process.stdout.write(`${greeting(ready)}\n`);
}

/** Reads the configuration, and prints a line for each probable mistake. */
function configure(fromFile: readonly string[]): Config {
  const warn = (line: string): void => say('warn', line);
  misspeltSettings(process.env, fromFile).forEach(warn);
  const config = readConfig(process.env);
  [...unusedSettings(config), ...littleMemory()].forEach(warn);
  return config;
}

/**
 * Runs the gateway until it is told to leave (gateway/wiring/shutdown.ts). `fromFile` names the variables that a settings file gave.
 */
export async function main(fromFile: readonly string[] = []): Promise<void> {
  const opened = new Opened();
  let leaving = false;
  const leave = async (code: number): Promise<void> => {
    if (leaving) return;
    leaving = true;
    await opened.stop().catch((error: unknown) => say('warn', explain(error)));
    // A start that has failed says so in one line.
    if (code === 0) logs?.log.info({}, 'stopped');
    process.exit(code);
  };
  let serving: Awaited<ReturnType<typeof start>> | undefined;
  let logs: Logs | undefined;
  const from = performance.now();
  onShutdown({ leave: () => void leave(0), hurry: () => serving?.hurry() });
  try {
    const config = configure(fromFile);
    logs = openLogs(config);
    serving = await start(config, opened, logs);
    greet(serving.ready, logs.log, performance.now() - from);
  } catch (error) {
    // A start that was told to leave fails for that reason alone.
    if (leaving) return;
    say('fatal', explain(error));
    await leave(1);
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
