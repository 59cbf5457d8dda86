/**
 * The data folder of embedded Postgres, `<DATA_DIR>/postgres`, and the folder of its socket. A cluster is
 * made beside its place and moved there when it is whole, so that an interrupted first start leaves nothing
 * that looks like data.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { codeOf, messageOf, StorageFailure } from '../failure.js';
import type { Account } from './account.js';
import type { Binaries } from './binaries.js';

/** sun_path of Linux; macOS has 104. Both count the ending zero. */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
const SOCKET_NAME = '.s.PGSQL.5432';
const TEMPORARY_PREFIX = 'gateway-pg-';
const OUTPUT_TAIL = 4000;

const WRITE_ERRORS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'it is not a folder',
  ENOENT: 'it cannot be made',
};

export const clusterFolder = (dataDir: string): string => join(dataDir, 'postgres');

/** Runs work on the data folder and says in words why it cannot be written. */
export function writing<T>(dataDir: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const reason = WRITE_ERRORS[codeOf(error)];
    if (reason === undefined) throw error;
    throw new StorageFailure(`DATA_DIR ${dataDir} cannot be written: ${reason} (${messageOf(error)}). Set DATA_DIR to another folder, or set DATABASE_URL`, { cause: error });
  }
}

export function prepareDataDir(dataDir: string): void {
  writing(dataDir, () => {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  });
}

/** A private folder whose socket path the system can hold: in the data folder, else a temporary one. */
export function makeSocketFolder(dataDir: string): string {
  const near = join(dataDir, 'run');
  if (Buffer.byteLength(join(near, SOCKET_NAME)) > SOCKET_PATH_BYTES) return mkdtempSync(join(tmpdir(), TEMPORARY_PREFIX));
  writing(dataDir, () => {
    mkdirSync(near, { recursive: true, mode: 0o700 });
    chmodSync(near, 0o700);
  });
  return near;
}

/** Removes a socket folder of ours: always a temporary one, and the near one when it is empty. */
export function removeSocketFolder(folder: string): void {
  if (basename(folder).startsWith(TEMPORARY_PREFIX)) return rmSync(folder, { recursive: true, force: true });
  if (existsSync(folder) && readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
}

async function runInitdb(folder: string, binaries: Binaries, account: Account): Promise<void> {
  const wanted = ['-D', folder, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'];
  const { file, args, options } = account.command(binaries.initdb, wanted);
  const child = spawn(file, args, { ...options, cwd: '/', env: serverEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_TAIL);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const code = await once(child, 'close').then(
    ([status, signal]) => (status ?? signal) as number | string,
    (error: unknown) => messageOf(error),
  );
  if (code === 0) return;
  const errors = output.split('\n').filter((line) => /error|fatal|detail|hint/i.test(line)).join('; ');
  throw new StorageFailure(`Embedded Postgres cannot make its data folder ${folder}: ${errors || code}. Set DATA_DIR to another folder, or set DATABASE_URL`);
}

/** What the server's programs see of the environment: nothing that would change where they look. */
export const serverEnvironment = (): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' });

const damaged = (folder: string, reason: string): StorageFailure =>
  new StorageFailure(`${folder} ${reason}. Move it away to start afresh, set DATA_DIR to another folder, or set DATABASE_URL`);

function checkCluster(folder: string, major: string): void {
  let version: string;
  try {
    version = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    throw damaged(folder, `is not a whole Postgres data folder (PG_VERSION: ${codeOf(error)})`);
  }
  if (version !== major) throw damaged(folder, `holds data of Postgres ${version}, and the embedded one is Postgres ${major}`);
}

/** Makes the cluster where there is none, else checks it. Errors: `StorageFailure`. */
export async function ensureCluster(dataDir: string, binaries: Binaries, account: Account): Promise<void> {
  const folder = clusterFolder(dataDir);
  if (existsSync(folder) && readdirSync(folder).length > 0) return checkCluster(folder, binaries.major);
  const fresh = `${folder}.new`;
  writing(dataDir, () => {
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { mode: 0o700 });
  });
  try {
    account.own(fresh);
    await runInitdb(fresh, binaries, account);
    writing(dataDir, () => renameSync(fresh, folder));
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
}
