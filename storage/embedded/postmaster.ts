/**
 * One run of the server: started on a cluster, ready when its pid file says so, ended by a fast shutdown. A server
 * left behind by a killed start is stopped before a new one starts; a pid file whose number now belongs to another
 * program is removed. Called only under the data folder's lock.
 */
import { errorText } from '../../contracts/errors.js';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../contracts/log.js';
import { StorageFailure } from '../failure.js';
import type { SystemAccount } from './account.js';
import type { Binaries } from './binaries.js';
import { hasSocket, serverEnvironment } from './cluster.js';
import { isAlive, processesLike, userOf } from '../../processes/process-table.js';

const POLL_MS = 5;
/** Longest start, including recovery after a crash. */
const READY_MS = 120_000;
/** Time for each way of stopping: fast, immediate, kill. */
const STOP_STEPS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5000],
  ['SIGKILL', 5000],
] as const;
const OUTPUT_TAIL = 4000;

/** A small server, reachable only by its socket. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  shared_buffers: '16MB',
  max_connections: '200',
  io_method: 'sync',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '256MB',
  max_logical_replication_workers: '0',
  max_parallel_workers: '0',
  max_worker_processes: '1',
  jit: 'off',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_line_prefix: '',
  log_destination: 'stderr',
  logging_collector: 'off',
};

const settingArguments = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

interface PidFile {
  readonly pid: number;
  /** `starting`, `ready`, `stopping` */
  readonly status: string;
}

function readPidFile(folder: string): PidFile | undefined {
  try {
    const lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), status: lines[7]?.trim() ?? '' };
  } catch {
    return undefined;
  }
}

const real = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

/** Whether that is the command line of a Postgres server on exactly this data folder, or of `unshare` about to be one. */
function servesFolder(words: readonly string[], folder: string): boolean {
  const at = words.indexOf('-D');
  const isServer = words.slice(0, Math.max(0, at)).some((word) => basename(word) === 'postgres');
  return isServer && real(words[at + 1] ?? '') === real(folder);
}

/** The servers on this folder of a user who may run one there, as far as their processes are to be seen. */
export function serversOn(folder: string): readonly number[] {
  const users = [process.geteuid?.(), statSync(folder).uid];
  return processesLike((words) => servesFolder(words, folder)).filter((pid) => users.includes(userOf(pid)));
}

async function ended(pid: number, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (isAlive(pid)) {
    if (performance.now() > end) return false;
    await pause(POLL_MS);
  }
  return true;
}

async function stopProcess(pid: number): Promise<void> {
  for (const [signal, graceMs] of STOP_STEPS) {
    if (!isAlive(pid)) return;
    process.kill(pid, signal);
    if (await ended(pid, graceMs)) return;
  }
  throw new StorageFailure(`Embedded Postgres (process ${pid}) does not stop: end it by hand`);
}

/**
 * Stops servers that a killed start left on this folder, and removes a stale pid file. A server that had only just
 * started has no pid file yet, but would take the folder, or the socket's place, from the next server.
 */
export async function clearOrphan(folder: string, log: Log): Promise<void> {
  for (const pid of serversOn(folder)) {
    log.info({ pid }, 'stopping the Postgres that an interrupted run left behind');
    await stopProcess(pid);
  }
  const left = readPidFile(folder);
  if (left && isAlive(left.pid)) rmSync(join(folder, 'postmaster.pid'), { force: true });
}

export interface Postmaster {
  readonly pid: number;
  /** Resolves when the server has ended, for whatever reason, with the end of its output. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

export interface Launch {
  readonly folder: string;
  readonly socketFolder: string;
  readonly binaries: Binaries;
  readonly account: SystemAccount;
  readonly log: Log;
  /** Aborted when nobody waits for the server any more: one that is still starting is stopped. */
  readonly signal?: AbortSignal | undefined;
}

/** `-k` takes a list: without quotes, a comma in the path would separate two folders. */
const quoted = (path: string): string => `"${path.replaceAll('"', '""')}"`;

function spawnServer({ folder, socketFolder, binaries, account }: Launch): ChildProcess {
  const wanted = ['-D', folder, '-k', quoted(socketFolder), ...settingArguments];
  const { file, args, options } = account.command(binaries.postgres, wanted);
  // Its own process group: a Ctrl-C in the terminal must not end it before the gateway has drained.
  return spawn(file, args, {
    ...options,
    cwd: '/',
    env: serverEnvironment(binaries),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
}

function follow(child: ChildProcess, log: Log): () => string {
  let tail = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    tail = (tail + chunk).slice(-OUTPUT_TAIL);
    log.debug({ postgres: chunk.trim() }, 'postgres');
  });
  return () =>
    tail
      .split('\n')
      .filter((line) => /^(FATAL|PANIC|DETAIL|HINT)|error/.test(line))
      .join('; ');
}

async function untilReady(
  pid: number,
  { folder, socketFolder, signal }: Launch,
  gone: () => string | undefined,
): Promise<void> {
  const end = performance.now() + READY_MS;
  for (;;) {
    const state = readPidFile(folder);
    if (state?.pid === pid && state.status === 'ready' && hasSocket(socketFolder)) return;
    const words = signal?.aborted ? 'it was told to stop' : gone();
    const late = performance.now() > end;
    if (words === undefined && !late) await pause(POLL_MS);
    else
      throw new StorageFailure(
        `Embedded Postgres does not start on ${folder}: ${words ?? 'it is not ready in time'}. Set DATA_DIR to another folder, or set DATABASE_URL`,
      );
  }
}

/** Starts the server and waits until it takes connections. Errors: `StorageFailure` with the end of its output. */
export async function launch(parts: Launch): Promise<Postmaster> {
  const child = spawnServer(parts);
  const lastWords = follow(child, parts.log);
  let words: string | undefined;
  const exited = once(child, 'close').then(
    ([code, signal]) => (words = lastWords() || `it ended with ${String(code ?? signal)}`),
    (error: unknown) => (words = errorText(error)),
  );
  const pid = child.pid ?? -1;
  const stop = async (): Promise<void> => {
    if (words === undefined) await stopProcess(pid);
    await exited;
  };
  try {
    await untilReady(pid, parts, () => words);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid, exited, stop };
}
