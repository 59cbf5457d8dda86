/**
 * The data folder of embedded Postgres, `<DATA_DIR>/postgres`, and the folder of its socket. A cluster is created
 * beside its final place and moved there when complete, so that an interrupted first start leaves nothing that
 * looks like data.
 */
import { errorText, isFullDisk } from '../../contracts/errors.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { codeOf, StorageFailure } from '../failure.js';
import { isListening } from '../../processes/listening.js';
import { makeFolder } from '../../processes/make-folder.js';
import type { SystemAccount } from './account.js';
import type { Binaries } from './binaries.js';

/** Longest socket path: sun_path has 108 bytes on Linux and 104 on macOS, including the final zero. */
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

const adviceOn = (error: unknown): string => (isFullDisk(error) ? 'Make some room there, or set' : 'Set');

export const clusterFolder = (dataDir: string): string => join(dataDir, 'postgres');

/** Runs work on the data folder; turns write errors into messages for the operator. */
export function writing<T>(dataDir: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const reason = WRITE_ERRORS[codeOf(error)];
    if (reason === undefined) throw error;
    throw new StorageFailure(
      `DATA_DIR ${dataDir} cannot be written: ${reason} (${errorText(error)}). ${adviceOn(error)} DATA_DIR to another folder`,
      { cause: error },
    );
  }
}

/** Creates DATA_DIR if it is missing. Errors: `StorageFailure` with the reason why it cannot be used. */
export function prepareDataDir(dataDir: string): void {
  writing(dataDir, () => {
    makeFolder(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  });
}

export const nearSocketFolder = (dataDir: string): string => join(dataDir, 'postgres-socket');

/** Whether a server answers at the folder of its socket. */
export const isServed = (socketFolder: string): Promise<boolean> =>
  isListening(join(socketFolder, SOCKET_NAME));

/**
 * The folder for the socket: in the data folder, or, if that path is too long for the system, a temporary folder,
 * which is created at once. The one in the data folder is created under the lock.
 */
export function chooseSocketFolder(dataDir: string): string {
  const near = nearSocketFolder(dataDir);
  const fits = Buffer.byteLength(join(near, SOCKET_NAME)) <= SOCKET_PATH_BYTES;
  return fits ? near : mkdtempSync(join(tmpdir(), TEMPORARY_PREFIX));
}

export const isTemporary = (socketFolder: string): boolean =>
  dirname(socketFolder) === tmpdir() && basename(socketFolder).startsWith(TEMPORARY_PREFIX);

/** Whether the server's socket still exists: something may have removed it while the server runs. */
export const hasSocket = (socketFolder: string): boolean => existsSync(join(socketFolder, SOCKET_NAME));

/** Creates an empty, private socket folder; removes what a killed server left in it. */
export function makeSocketFolder(socketFolder: string): void {
  removeFolder(socketFolder);
  mkdirSync(socketFolder, { mode: 0o700 });
  chmodSync(socketFolder, 0o700);
}

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** What a cluster is made with. */
interface Making {
  readonly binaries: Binaries;
  readonly account: SystemAccount;
  /** Aborted when nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined;
}

async function runInitdb(folder: string, { binaries, account, signal }: Making): Promise<void> {
  const wanted = [
    '-D',
    folder,
    '-U',
    'postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ];
  const { file, args, options } = account.command(binaries.initdb, wanted);
  const child = spawn(file, args, {
    ...options,
    cwd: '/',
    env: serverEnvironment(binaries),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_TAIL);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const stop = (): void => void child.kill();
  signal?.addEventListener('abort', stop);
  const code = await once(child, 'close').then(
    ([status, killedBy]) => (status ?? killedBy) as number | string,
    (error: unknown) => errorText(error),
  );
  signal?.removeEventListener('abort', stop);
  if (code === 0) return;
  const errors = output
    .split('\n')
    .filter((line) => /error|fatal|detail|hint/i.test(line))
    .join('; ');
  throw new StorageFailure(
    `Embedded Postgres cannot make its data folder ${folder}: ${errors || code}. Set DATA_DIR to another folder, or set DATABASE_URL`,
  );
}

/** Where the system's loader looks for libraries first. */
const LIBRARIES = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';

/** The environment of the server's programs: without variables that would change where they look for files. */
export const serverEnvironment = ({ libraries }: Pick<Binaries, 'libraries'>): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  LC_ALL: 'C',
  TZ: 'UTC',
  ...(libraries !== undefined && { [LIBRARIES]: libraries }),
});

const damaged = (folder: string, reason: string): StorageFailure =>
  new StorageFailure(
    `${folder} ${reason}. Move it away to start afresh, set DATA_DIR to another folder, or set DATABASE_URL`,
  );

function checkCluster(folder: string, major: string): void {
  let version: string;
  try {
    version = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    throw damaged(folder, `is not a whole Postgres data folder (PG_VERSION: ${codeOf(error)})`);
  }
  if (version !== major)
    throw damaged(folder, `holds data of Postgres ${version}, and the embedded one is Postgres ${major}`);
}

/** Whether there is a cluster that this version of Postgres can run on. Errors: `StorageFailure` if it cannot. */
export function hasCluster(dataDir: string, major: string): boolean {
  const folder = clusterFolder(dataDir);
  const isMade = existsSync(folder) && readdirSync(folder).length > 0;
  if (isMade) checkCluster(folder, major);
  return isMade;
}

/** Creates the cluster if it is missing, else checks it. Errors: `StorageFailure`. */
export async function ensureCluster(dataDir: string, making: Making): Promise<void> {
  const { binaries, account } = making;
  const folder = clusterFolder(dataDir);
  if (hasCluster(dataDir, binaries.major)) return;
  const fresh = `${folder}.new`;
  writing(dataDir, () => {
    removeFolder(fresh);
    mkdirSync(fresh, { mode: 0o700 });
  });
  try {
    account.own(fresh);
    await runInitdb(fresh, making);
    writing(dataDir, () => renameSync(fresh, folder));
  } catch (error) {
    removeFolder(fresh);
    throw error;
  }
}
