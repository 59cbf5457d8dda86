/**
 * Cleans the socket folder after a killed supervisor: removes sockets, and kills children that were stuck and so did not
 * notice its end, found by their pid files. A process id alone proves nothing: a process is killed only if it belongs to
 * our user, started when the file says, and has our socket on its command line.
 */
import { constants } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isListening } from '../listening.js';
import { isOurs, parentOf, startOf } from '../process-table.js';

interface Owner {
  readonly child: number;
  /** When the child started. */
  readonly started: string | undefined;
  readonly supervisor: number;
}

export const pidFileOf = (socketPath: string): string => socketPath.replace(/\.sock$/, '.pid');

/** The content of a pid file: the child, and the supervisor that started it. */
export const ownerText = (child: number, supervisor: number): string =>
  `${JSON.stringify({ child, started: startOf(child), supervisor } satisfies Owner)}\n`;

/**
 * Removes the role's leftovers in the folder and kills its orphans.
 * Throws if a living supervisor still runs the role there.
 */
export async function sweep(folder: string, role: string): Promise<void> {
  const ofRole = new RegExp(`^${role}-\\d+\\.(?:sock|pid)$`);
  const names = (await readdir(folder)).filter((name) => ofRole.test(name));
  for (const name of names) if (name.endsWith('.pid')) await endOrphan(join(folder, name));
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
}

/** Removes the sockets with matching names on which nobody listens any more. */
export async function sweepSockets(folder: string, pattern: RegExp): Promise<void> {
  const paths = (await readdir(folder))
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));
  await Promise.all(
    paths.map(async (path) => {
      if (!(await isListening(path))) await rm(path, { force: true });
    }),
  );
}

async function endOrphan(pidFile: string): Promise<void> {
  const { child, started, supervisor } = await readOwner(pidFile);
  const socket = pidFile.replace(/\.pid$/, '.sock');
  if (!(child > 1) || started === undefined) return;
  if (!isOurs(child, socket, started)) return checkUnused(socket);
  if (parentOf(child) === supervisor)
    throw new Error(`Process ${supervisor} runs workers in ${dirname(pidFile)} already`);
  process.kill(child, 'SIGKILL');
}

/** Throws if a worker listens whose process is not to be seen: it is that of a gateway in another container. */
async function checkUnused(socket: string): Promise<void> {
  if (await isListening(socket))
    throw new Error(`A gateway in another container runs workers in ${dirname(socket)} already`);
}

const NOBODY: Owner = { child: 0, started: undefined, supervisor: 0 };

/** Reads a pid file; one that is not ours names nobody. */
async function readOwner(pidFile: string): Promise<Owner> {
  try {
    const file = await open(pidFile, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const owner = JSON.parse(await file.readFile('utf8')) as Owner | null;
      return { ...NOBODY, ...owner };
    } finally {
      await file.close();
    }
  } catch {
    return NOBODY;
  }
}
