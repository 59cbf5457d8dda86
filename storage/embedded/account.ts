/**
 * The account that Postgres runs as, since it refuses root. An ordinary user runs it directly. Root runs it in a user
 * namespace, where root's files look like an ordinary user's; if namespaces are forbidden, as `nobody`, which then
 * owns the data. If the data folder already belongs to another user, Postgres runs as that user.
 */
import { spawnSync, type SpawnOptions } from 'node:child_process';
import { chownSync, lchownSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { StorageFailure } from '../failure.js';

export interface SystemAccount {
  /** The command and the options that run a program as this account. */
  command(
    program: string,
    args: readonly string[],
  ): {
    readonly file: string;
    readonly args: readonly string[];
    readonly options: SpawnOptions;
  };
  /** Gives a folder and its contents to the account. */
  own(folder: string): void;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

const PROBE_MS = 5000;

const plain: SystemAccount = {
  command: (file, args) => ({ file, args, options: {} }),
  own: () => undefined,
};

/** `nobody` from /etc/passwd; its usual numbers if it is not listed. */
function nobody(): User {
  let passwd = '';
  try {
    passwd = readFileSync('/etc/passwd', 'utf8');
  } catch {
    // the usual numbers stand
  }
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? [];
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) };
}

/** initdb looks its user up by number, so the one inside the namespace must have a name. */
function namespaced(): SystemAccount {
  const { uid, gid } = nobody();
  const unshare = ['--user', `--map-user=${uid}`, `--map-group=${gid}`];
  return {
    command: (program, args) => ({ file: 'unshare', args: [...unshare, program, ...args], options: {} }),
    own: () => undefined,
  };
}

function namespacesWork(): boolean {
  const { file, args } = namespaced().command('true', []);
  return spawnSync(file, args, { timeout: PROBE_MS, stdio: 'ignore' }).status === 0;
}

function chownAll(path: string, { uid, gid }: User): void {
  lchownSync(path, uid, gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) chownAll(inner, { uid, gid });
    else lchownSync(inner, uid, gid);
  }
}

const other = (user: User): SystemAccount => ({
  command: (file, args) => ({ file, args, options: { uid: user.uid, gid: user.gid } }),
  own(folder) {
    if (statSync(folder).uid !== user.uid) chownAll(folder, user);
    else chownSync(folder, user.uid, user.gid);
  },
});

/** The first folder on the way to `path` that the user may not enter; undefined if all are open. */
export function closedFolder(path: string, { uid, gid }: User): string | undefined {
  const folders = [];
  for (let at = dirname(resolve(path)); ; at = dirname(at)) {
    folders.unshift(at);
    if (at === dirname(at)) break;
  }
  return folders.find((folder) => {
    const stat = statSync(folder);
    const bit = stat.uid === uid ? 0o100 : stat.gid === gid ? 0o010 : 0o001;
    return (stat.mode & bit) === 0;
  });
}

function nobodyAccount(folder: string, program: string): SystemAccount {
  const user = nobody();
  const closed = closedFolder(folder, user) ?? closedFolder(program, user);
  if (closed === undefined) return other(user);
  throw new StorageFailure(
    `Embedded Postgres does not run as root: user namespaces are not allowed here, and user nobody cannot reach ${closed}. ` +
      'Set DATA_DIR to a folder that it can reach, start as an ordinary user, or set DATABASE_URL',
  );
}

const hasName = (): boolean => {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
};

const ownerOf = (folder: string): User | undefined => statSync(folder, { throwIfNoEntry: false });

function rootAccount(folder: string, program: string): SystemAccount {
  const owner = ownerOf(folder);
  if (owner && owner.uid !== 0) return other(owner);
  return namespacesWork() ? namespaced() : nobodyAccount(folder, program);
}

function userAccount(folder: string): SystemAccount {
  const owner = ownerOf(folder);
  if (owner && owner.uid !== process.geteuid?.()) {
    throw new StorageFailure(
      `${folder} belongs to another user (number ${owner.uid}): start as that user, set DATA_DIR to another folder, or set DATABASE_URL`,
    );
  }
  if (hasName() || ownerOf(join(folder, 'PG_VERSION'))) return plain;
  if (namespacesWork()) return namespaced();
  throw new StorageFailure(
    `Embedded Postgres needs a user with a name, and number ${process.geteuid?.() ?? ''} has none in /etc/passwd: start as another user, or set DATABASE_URL`,
  );
}

/**
 * Chooses the account for a data folder that may not exist yet. Errors: `StorageFailure` naming DATA_DIR
 * and DATABASE_URL if Postgres can run under no account.
 */
export const chooseAccount = (folder: string, program: string): SystemAccount =>
  process.geteuid?.() === 0 ? rootAccount(folder, program) : userAccount(folder);
