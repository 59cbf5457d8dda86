/**
 * Embedded Postgres: the real server from npm packages, for an installation without DATABASE_URL
 * (docs/architecture.md). One supervisor owns a data folder. The server listens on a private Unix socket only
 * and is restarted when it dies; if its owner is killed, the next start stops it.
 */
import { whyOf } from '../contracts/errors.js';
import { realpathSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog, type Log } from '../contracts/log.js';
import { chooseAccount } from './embedded/account.js';
import { findBinaries, readyBinaries } from './embedded/binaries.js';
import {
  chooseSocketFolder,
  clusterFolder,
  ensureCluster,
  hasCluster,
  hasSocket,
  isServed,
  isTemporary,
  makeSocketFolder,
  nearSocketFolder,
  prepareDataDir,
  removeFolder,
  writing,
} from './embedded/cluster.js';
import { FolderInUse, type LockHolder, type Lock, readHolder, takeLock } from './embedded/lock.js';
import { clearOrphan, launch, type Launch, type Postmaster, serversOn } from './embedded/postmaster.js';
import { Reserve } from './embedded/reserve.js';
import { isAlive, restOf } from '../processes/process-table.js';
import { StorageFailure } from './failure.js';

export { prepareDataDir } from './embedded/cluster.js';

export interface EmbeddedPostgres {
  /** The database's address for `openDatabase`, and for children as DATABASE_URL. */
  readonly url: string;
  /** The server's current process; changes with a restart. */
  pid(): number;
  /** Fast shutdown; only the data stays. Idempotent. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log?: Log;
  /** Ends a start that is under way, which then fails and leaves nothing behind. */
  readonly signal?: AbortSignal;
  /** It runs for one command only, for whose end others wait. */
  readonly brief?: boolean;
}

const RESTART_MS = { first: 100, most: 10_000 };
/** Interval of checks whether the server can still be reached. */
const LOOK_MS = 5000;
/** Interval of looks at its process, and the number of them that find it stopped before it is replaced. */
const STOPPED = { lookMs: 1000, looks: 5 };
/** How long a start waits for commands that hold the folder, and the interval of its looks. */
const TURN_MS = { most: 30_000, look: 50 };

const addressOf = (socketFolder: string): string =>
  `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(socketFolder)}`;

/**
 * Whether a server answers on this folder whose process is not to be seen from here: that of a gateway in another container
 * that has the same folder. Two servers on one folder destroy the data. It looks twice: a server may end between two looks.
 */
async function isServedElsewhere(dataDir: string): Promise<boolean> {
  for (let looks = 0; looks < 2; looks++) {
    if (readHolder(dataDir) || !(await isServed(nearSocketFolder(dataDir)))) return false;
    if (serversOn(clusterFolder(dataDir)).length > 0) return false;
  }
  return true;
}

/** The address of the embedded Postgres that a living process runs on this folder, and not for one command only, if any. */
export async function runningEmbeddedPostgres(dataDir: string): Promise<string | undefined> {
  const holder = readHolder(dataDir);
  if (holder) return holder.brief ? undefined : addressOf(holder.socketFolder);
  return (await isServedElsewhere(dataDir)) ? addressOf(nearSocketFolder(dataDir)) : undefined;
}

/** A server to launch, in the room that is kept for that if there is no other. */
interface Start extends Launch {
  readonly dataDir: string;
  readonly reserve: Reserve;
}

async function launchWithRoom(parts: Start): Promise<Postmaster> {
  const { reserve } = parts;
  reserve.release();
  try {
    openSocketFolder(parts);
    return await launch(parts);
  } finally {
    await reserve.retake();
  }
}

/** Starts another server, retrying until that succeeds; undefined once `stopping` is aborted. */
async function startAgain(parts: Start, stopping: AbortSignal): Promise<Postmaster | undefined> {
  const { folder, log } = parts;
  for (let wait = RESTART_MS.first; ; wait = Math.min(wait * 2, RESTART_MS.most)) {
    await pause(wait, undefined, { signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return undefined;
    try {
      await clearOrphan(folder, log);
      return await launchWithRoom(parts);
    } catch (error) {
      log.error(whyOf(error), 'embedded Postgres does not start again, trying on');
    }
  }
}

/**
 * Looks at the server's process, and kills one that stays stopped (SIGSTOP): it gives nobody a connection, and acts on no
 * other signal.
 */
function replacesStopped(pidNow: () => number, log: Log): () => void {
  let looks = 0;
  return () => {
    const pid = pidNow();
    looks = restOf(pid)?.state === 'stopped' ? looks + 1 : 0;
    if (looks < STOPPED.looks) return;
    looks = 0;
    log.error({ pid }, 'embedded Postgres was stopped for 5 s: replaced');
    process.kill(pid, 'SIGKILL');
  };
}

/** Keeps a server running: restarts it, with backoff, whenever it ends unasked. */
function keepRunning(first: Postmaster, parts: Start): Pick<EmbeddedPostgres, 'pid' | 'stop'> {
  let server = first;
  const stopping = new AbortController();
  const { log, reserve } = parts;

  async function watch(): Promise<void> {
    for (;;) {
      const reason = await server.exited;
      if (stopping.signal.aborted) return;
      log.error({ reason }, 'embedded Postgres ended, starting it again');
      const next = await startAgain(parts, stopping.signal);
      if (next) server = next;
      if (stopping.signal.aborted) return;
    }
  }

  /** Replaces a server whose socket was removed: it runs on, but nobody can reach it. Takes the reserve once there is room. */
  async function look(): Promise<void> {
    const watched = server;
    await reserve.take();
    if (stopping.signal.aborted || !isAlive(watched.pid) || hasSocket(parts.socketFolder)) return;
    log.error({ pid: watched.pid }, 'the socket of embedded Postgres is gone, starting another server');
    await watched.stop();
  }

  const watched = watch();
  const timers = [
    setInterval(() => void look().catch(() => undefined), LOOK_MS).unref(),
    setInterval(
      replacesStopped(() => server.pid, log),
      STOPPED.lookMs,
    ).unref(),
  ];
  return {
    pid: () => server.pid,
    async stop() {
      for (const timer of timers) clearInterval(timer);
      stopping.abort();
      await server.stop();
      await watched;
      // A restart that was running at the time of the stop may have started another server.
      await server.stop();
      await reserve.settled;
    },
  };
}

function openSocketFolder({ dataDir, socketFolder, account }: Start): void {
  writing(dataDir, () => {
    makeSocketFolder(socketFolder);
    account.own(socketFolder);
  });
}

async function startUnderLock(
  parts: Start,
  previous: LockHolder | undefined,
): Promise<Pick<EmbeddedPostgres, 'pid' | 'stop'>> {
  const { dataDir, folder, account, log } = parts;
  await ensureCluster(dataDir, parts);
  await clearOrphan(folder, log);
  if (previous && isTemporary(previous.socketFolder)) removeFolder(previous.socketFolder);
  writing(dataDir, () => account.own(folder));
  return keepRunning(await launchWithRoom(parts), parts);
}

interface Locked {
  readonly lock: Lock;
  readonly socketFolder: string;
}

function lockFolder(dataDir: string, reserve: Reserve, brief?: boolean): Locked {
  const socketFolder = chooseSocketFolder(dataDir);
  try {
    if (!readHolder(dataDir)) reserve.release();
    return { lock: writing(dataDir, () => takeLock(dataDir, socketFolder, brief)), socketFolder };
  } catch (error) {
    if (isTemporary(socketFolder)) removeFolder(socketFolder);
    throw error;
  }
}

/** Takes the folder once the commands that hold it have ended. */
async function lockInTurn(
  dataDir: string,
  reserve: Reserve,
  { brief, signal }: EmbeddedPostgresOptions,
): Promise<Locked> {
  const end = performance.now() + TURN_MS.most;
  for (;;) {
    try {
      return lockFolder(dataDir, reserve, brief);
    } catch (error) {
      const waits = error instanceof FolderInUse && error.holder.brief === true;
      if (!waits || signal?.aborted || performance.now() > end) throw error;
    }
    await pause(TURN_MS.look);
  }
}

/**
 * Whether a start would find what it needs on this data folder: the programs, an account to run them as, and a database of their version,
 * if there is one yet; nothing is changed. Errors: `StorageFailure` with what is wrong.
 */
export function checkEmbedded(dataDir: string): 'made' | 'to be made' {
  const { postgres, major } = findBinaries();
  chooseAccount(clusterFolder(dataDir), postgres);
  return hasCluster(dataDir, major) ? 'made' : 'to be made';
}

/**
 * Starts Postgres on `<dataDir>/postgres`, creating it the first time (about a second; later starts 0.1 s).
 * Errors: `StorageFailure` if the folder is in use, unwritable or damaged, or no account may run Postgres on it.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log = silentLog, signal } = options;
  prepareDataDir(options.dataDir);
  const dataDir = realpathSync(options.dataDir);
  const binaries = writing(dataDir, () => readyBinaries(dataDir));
  const folder = clusterFolder(dataDir);
  const account = chooseAccount(folder, binaries.postgres);
  if (await isServedElsewhere(dataDir))
    throw new StorageFailure(
      `DATA_DIR ${dataDir} is in use by a gateway in another container: stop it first, or set another DATA_DIR or a DATABASE_URL`,
    );
  const reserve = new Reserve(dataDir, log);
  const { lock, socketFolder } = await lockInTurn(dataDir, reserve, options);
  const leave = (): void => {
    removeFolder(socketFolder);
    lock.release();
  };
  try {
    const running = await startUnderLock(
      { dataDir, folder, socketFolder, binaries, account, log, signal, reserve },
      lock.previous,
    );
    if (!options.brief) void reserve.take();
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => (stopped ??= running.stop().finally(leave));
    return { url: addressOf(socketFolder), pid: running.pid, stop };
  } catch (error) {
    leave();
    throw error;
  }
}
