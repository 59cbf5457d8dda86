/**
 * What a killed start may have left in the socket folder, told by pid files: sockets, and a child that was
 * stuck and so did not see its supervisor go. A pid counts only while its command line names our socket.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

interface Owner {
  readonly child: number;
  readonly supervisor: number;
}

export const pidFileOf = (socketPath: string): string => socketPath.replace(/\.sock$/, '.pid');

/** The content of a pid file: who runs there and on whose behalf. */
export const ownerText = (owner: Owner): string => `${owner.child} ${owner.supervisor}\n`;

/**
 * Removes the role's leftovers in the folder and kills its orphans.
 * Throws where a supervisor that lives still runs the role there.
 */
export async function sweep(folder: string, role: string): Promise<void> {
  const ofRole = new RegExp(`^${role}-\\d+\\.(?:sock|pid)$`);
  const names = (await readdir(folder)).filter((name) => ofRole.test(name));
  for (const name of names) if (name.endsWith('.pid')) await endOrphan(join(folder, name));
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
}

async function endOrphan(pidFile: string): Promise<void> {
  const [child = 0, supervisor = 0] = (await readFile(pidFile, 'utf8')).split(' ').map(Number);
  if (!(child > 1)) return;
  const socket = pidFile.replace(/\.pid$/, '.sock');
  const found = await lookUp(child);
  if (found === undefined || !found.command.includes(socket)) return;
  if (found.parent === supervisor) {
    throw new Error(`Process ${supervisor} runs workers in ${dirname(pidFile)} already`);
  }
  process.kill(child, 'SIGKILL');
}

interface Found {
  readonly parent: number;
  readonly command: string;
}

/** A process's parent and command line; undefined where there is none, or it cannot be told. */
async function lookUp(pid: number): Promise<Found | undefined> {
  try {
    return process.platform === 'linux' ? await fromProc(pid) : await fromPs(pid);
  } catch {
    return undefined;
  }
}

async function fromProc(pid: number): Promise<Found> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold spaces; the state and the parent follow it.
  const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(parent), command: await readFile(`/proc/${pid}/cmdline`, 'utf8') };
}

async function fromPs(pid: number): Promise<Found> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=,command=', '-p', String(pid)]);
  return { parent: Number.parseInt(stdout, 10), command: stdout };
}
