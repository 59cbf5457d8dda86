/**
 * Embedded Postgres: the real server out of npm's packages, for an installation without DATABASE_URL
 * (design.md "Storage"). One supervisor owns a data folder. The server listens on a private Unix socket
 * only, is started again when it dies, and is left to the next start when its owner is killed.
 */
import { realpathSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog, type Log } from '../contracts/log.js';
import { chooseAccount } from './embedded/account.js';
import { findBinaries } from './embedded/binaries.js';
import {
  chooseSocketFolder,
  clusterFolder,
  ensureCluster,
  isTemporary,
  makeSocketFolder,
  prepareDataDir,
  removeFolder,
  writing,
} from './embedded/cluster.js';
import { type Holder, type Lock, readHolder, takeLock } from './embedded/lock.js';
import { clearOrphan, launch, type Launch, type Postmaster } from './embedded/postmaster.js';
import { messageOf } from './failure.js';

export interface EmbeddedPostgres {
  /** What `openDatabase` takes, and what children are given as DATABASE_URL. */
  readonly url: string;
  /** The server's process now; another one after a restart. */
  pid(): number;
  /** Fast shutdown; nothing is left behind but the data. Idempotent. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log?: Log;
}

const RESTART_MS = { first: 100, most: 10_000 };

const addressOf = (socketFolder: string): string =>
  `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(socketFolder)}`;

/** The address of the embedded Postgres that another living process runs on this folder, if one does. */
export function runningEmbedded(dataDir: string): string | undefined {
  const holder = readHolder(dataDir);
  return holder && addressOf(holder.socketFolder);
}

/** Keeps a server running: a new one, after a growing pause, whenever it ends unasked. */
function keepRunning(first: Postmaster, parts: Launch): Pick<EmbeddedPostgres, 'pid' | 'stop'> {
  let server = first;
  const stopping = new AbortController();
  const { log } = parts;

  async function replace(): Promise<Postmaster | undefined> {
    for (let wait = RESTART_MS.first; ; wait = Math.min(wait * 2, RESTART_MS.most)) {
      await pause(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return undefined;
      try {
        await clearOrphan(parts.folder, log);
        return await launch(parts);
      } catch (error) {
        log.error({ reason: messageOf(error) }, 'embedded Postgres does not start again, trying on');
      }
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      const reason = await server.exited;
      if (stopping.signal.aborted) return;
      log.error({ reason }, 'embedded Postgres ended, starting it again');
      const next = await replace();
      if (next) server = next;
      if (stopping.signal.aborted) return;
    }
  }

  const watched = watch();
  return {
    pid: () => server.pid,
    async stop() {
      stopping.abort();
      await server.stop();
      await watched;
      // A restart that was under way when the stop came has put another server in its place.
      await server.stop();
    },
  };
}

async function startUnderLock(
  parts: Launch,
  dataDir: string,
  previous: Holder | undefined,
): Promise<Pick<EmbeddedPostgres, 'pid' | 'stop'>> {
  const { folder, socketFolder, account, log } = parts;
  await ensureCluster(dataDir, parts.binaries, account);
  await clearOrphan(folder, log);
  if (previous && isTemporary(previous.socketFolder)) removeFolder(previous.socketFolder);
  writing(dataDir, () => {
    makeSocketFolder(socketFolder);
    account.own(folder);
    account.own(socketFolder);
  });
  return keepRunning(await launch(parts), parts);
}

function lockFolder(dataDir: string): { lock: Lock; socketFolder: string } {
  const socketFolder = chooseSocketFolder(dataDir);
  try {
    return { lock: writing(dataDir, () => takeLock(dataDir, socketFolder)), socketFolder };
  } catch (error) {
    if (isTemporary(socketFolder)) removeFolder(socketFolder);
    throw error;
  }
}

/**
 * Starts Postgres on `<dataDir>/postgres`, making it the first time (about a second; later starts 0.1 s).
 * Errors: `StorageFailure` where the folder is in use, unwritable, damaged, or nobody may run it.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log = silentLog } = options;
  const binaries = findBinaries();
  prepareDataDir(options.dataDir);
  const dataDir = realpathSync(options.dataDir);
  const folder = clusterFolder(dataDir);
  const account = chooseAccount(folder, binaries.postgres);
  const { lock, socketFolder } = lockFolder(dataDir);
  const leave = (): void => {
    removeFolder(socketFolder);
    lock.release();
  };
  try {
    const running = await startUnderLock(
      { folder, socketFolder, binaries, account, log },
      dataDir,
      lock.previous,
    );
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => (stopped ??= running.stop().finally(leave));
    return { url: addressOf(socketFolder), pid: running.pid, stop };
  } catch (error) {
    leave();
    throw error;
  }
}
