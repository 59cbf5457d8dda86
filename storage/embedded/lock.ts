/**
 * Lets a data folder have one owner only. The lock file names the owner and its Postgres' socket, so that the keys
 * command can connect. It is created atomically (by link), and a dead owner's lock is taken over, by one process
 * only: only one rename of it succeeds, and a fresh lock moved by mistake is put back.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, StorageFailure } from '../failure.js';
import { startOf } from '../../processes/process-table.js';

export interface LockHolder {
  readonly pid: number;
  readonly started: string;
  readonly socketFolder: string;
  /** It holds the folder for one command: others wait for its end instead of using its server. */
  readonly brief?: boolean;
}

/** A living process holds the folder. */
export class FolderInUse extends StorageFailure {
  constructor(
    dataDir: string,
    readonly holder: LockHolder,
  ) {
    super(
      `DATA_DIR ${dataDir} is in use by process ${holder.pid}: stop it first, or set another DATA_DIR or a DATABASE_URL`,
    );
  }
}

const ATTEMPTS = 10;
const lockFile = (dataDir: string): string => join(dataDir, 'postgres.lock');

function read(file: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LockHolder;
  } catch {
    return undefined;
  }
}

const lives = (holder: LockHolder | undefined): holder is LockHolder =>
  holder !== undefined && startOf(holder.pid) === holder.started;

/** The living process that holds the folder now, if any. */
export function readHolder(dataDir: string): LockHolder | undefined {
  const holder = read(lockFile(dataDir));
  return lives(holder) ? holder : undefined;
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Moves a dead holder's lock away and returns that holder; throws if the holder lives. */
function clearStale(dataDir: string, spare: string): LockHolder | undefined {
  const file = lockFile(dataDir);
  const holder = read(file);
  if (lives(holder)) throw new FolderInUse(dataDir, holder);
  try {
    renameSync(file, spare);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const moved = read(spare);
  if (lives(moved)) link(spare, file);
  rmSync(spare, { force: true });
  return moved;
}

export interface Lock {
  /** The dead holder whose lock was taken over. */
  readonly previous: LockHolder | undefined;
  release(): void;
}

/** Takes the folder for this process. Errors: `FolderInUse` while a living process holds it. */
export function takeLock(dataDir: string, socketFolder: string, brief = false): Lock {
  const file = lockFile(dataDir);
  const own = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  const holder: LockHolder = { pid: process.pid, started: startOf(process.pid) ?? '', socketFolder, brief };
  let previous: LockHolder | undefined;
  try {
    writeFileSync(own, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (link(own, file)) return { previous, release: () => rmSync(file, { force: true }) };
      previous = clearStale(dataDir, `${own}.stale`) ?? previous;
    }
    throw new StorageFailure(`DATA_DIR ${dataDir} is being taken by several starts at once: try again`);
  } finally {
    rmSync(own, { force: true });
  }
}
