/**
 * The supervisor: owns the database of the installation, the children and the port; with WORKERS=1 it is the
 * gateway as well. A start either ends ready, or says in one line why not and leaves nothing behind.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomIds } from '../contracts/ids.js';
import type { Log } from '../contracts/log.js';
import { type Supervision, superviseRole } from '../processes/supervise.js';
import { openDatabase } from '../storage/database.js';
import { startEmbedded } from '../storage/embedded.js';
import { ensureFirstKey, type FirstKey } from '../storage/first-key.js';
import { migrate } from '../storage/migrate.js';
import { ensureDefaultWorkspace } from '../storage/workspaces.js';
import { type Config, ConfigError, readConfig } from './config.js';
import { engineModels, engineRoles } from './engines.js';
import { type Resources, startGateway } from './gateway.js';
import { greeting } from './greeting.js';
import { createLog } from './log.js';
import { mediaSettings, roomSettings } from './media.js';
import { type RoleName, type RoleRow, ROLES, type RoleSockets } from './roles.js';

/** What a start has opened, closed in reverse by `stop`. */
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

const worker = (name: string): URL => new URL(`./workers/${name}.js`, import.meta.url);

/** Short, for a Unix socket's path has about 100 bytes; one folder an installation and user. */
function socketFolderOf({ dataDir }: Config): string {
  const owner = `${process.getuid?.()} ${dataDir}`;
  return join(tmpdir(), `sg-${createHash('sha256').update(owner).digest('hex').slice(0, 12)}`);
}

function checkConfig(config: Config): void {
  if (config.workers > 1 && config.port === 0)
    throw new ConfigError('WORKERS above 1 needs a PORT of its own');
  const missing = engineModels(config).find((file) => !existsSync(join(config.modelsDir, file)));
  if (missing !== undefined) {
    throw new ConfigError(
      `${join(config.modelsDir, missing)} is missing: "npm start" fetches the models into MODELS_DIR`,
    );
  }
}

/** Brings the database up to date and makes sure of a key. */
async function prepareDatabase(url: string, config: Config, log: Log): Promise<FirstKey> {
  const database = await openDatabase({ url, log, connections: 1 });
  try {
    await migrate(database.sql);
    const workspaceId = await ensureDefaultWorkspace(database.sql, randomIds);
    const { dataDir, apiKey } = config;
    return await ensureFirstKey({ sql: database.sql, ids: randomIds, workspaceId, dataDir, apiKey });
  } finally {
    await database.close();
  }
}

async function superviseChildren(config: Config, opened: Opened, log: Log): Promise<RoleSockets> {
  const carrier = config.livekit ? 'room' : 'media';
  const roles = new Set<RoleName>(['encode', carrier, ...engineRoles(config)]);
  const started = [...roles].map(async (role): Promise<[RoleName, Supervision]> => {
    const { worker: entry, count, nice, env: own }: RoleRow = ROLES[role];
    const { modelsDir: MODELS_DIR } = config;
    const carriers = { MEDIA: mediaSettings(config), ROOMS: roomSettings(config) };
    const env = { ...own, ...process.env, MODELS_DIR, ...carriers };
    const socketFolder = socketFolderOf(config);
    return [
      role,
      opened.add(
        await superviseRole({
          role,
          entry: worker(entry),
          count: count(config),
          nice,
          socketFolder,
          env,
          log,
        }),
      ),
    ];
  });
  const children = await Promise.all(started);
  return Object.fromEntries(children.map(([role, { sockets }]) => [role, sockets]));
}

/** One gateway here, or several in workers that share the port. Returns the port when they are ready. */
async function serve(config: Config, resources: Resources, opened: Opened, log: Log): Promise<number> {
  if (config.workers === 1) {
    const gateway = opened.add(await startGateway(config, resources, log));
    await gateway.ready;
    return gateway.port;
  }
  const env = { ...process.env, GATEWAY_RESOURCES: JSON.stringify(resources) };
  const gateways = await superviseRole({
    role: 'gateway',
    entry: worker('gateway'),
    count: config.workers,
    socketFolder: socketFolderOf(config),
    stopMs: 40_000,
    env,
    log,
  });
  await opened.add(gateways).ready();
  return config.port;
}

async function start(config: Config, opened: Opened, log: Log): Promise<string> {
  checkConfig(config);
  const children = superviseChildren(config, opened, log);
  children.catch(() => undefined);
  const databaseUrl =
    config.databaseUrl ?? opened.add(await startEmbedded({ dataDir: config.dataDir, log })).url;
  const firstKey = await prepareDatabase(databaseUrl, config, log);
  const port = await serve(config, { databaseUrl, sockets: await children }, opened, log);
  return greeting({ config, port, firstKey });
}

/** What a user can mend is said in one line; anything else with its stack. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'Error' || error.name === 'StorageFailure' || error instanceof ConfigError
    ? error.message
    : (error.stack ?? error.message);
}

/** Runs the gateway until SIGTERM or SIGINT; a second signal ends it at once. */
export async function main(): Promise<void> {
  const opened = new Opened();
  let leaving = false;
  const leave = async (code: number): Promise<void> => {
    if (leaving) process.exit(1);
    leaving = true;
    await opened.stop().catch((error: unknown) => console.error(explain(error)));
    process.exit(code);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void leave(0));
  try {
    const config = readConfig(process.env);
    console.log(await start(config, opened, createLog(config.logLevel)));
  } catch (error) {
    console.error(`speech gateway: ${explain(error)}`);
    await leave(1);
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) await main();
