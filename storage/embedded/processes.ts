/**
 * The process table. A process number alone proves nothing, since the kernel gives it to somebody else
 * later (in a container, soon): a process is its number and the moment that it started.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const LINUX = existsSync('/proc/self/stat');
const PS_TIMEOUT_MS = 5000;

const readProc = (path: string): string | undefined => {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return undefined;
  }
};

const ps = (pid: number, column: string): string | undefined => {
  const args = ['-ww', '-o', `${column}=`, '-p', String(pid)];
  const { stdout } = spawnSync('ps', args, { encoding: 'utf8', timeout: PS_TIMEOUT_MS });
  return stdout?.trim() || undefined;
};

/** State letter and start time in ticks since boot: fields 3 and 22 of proc(5) stat, counted after the name. */
function procStat(pid: number): { state: string; started: string } | undefined {
  const stat = readProc(`${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', started: fields[19] ?? '' };
}

function linuxStart(pid: number): string | undefined {
  const stat = procStat(pid);
  if (!stat || stat.state === 'Z' || stat.state === 'X') return undefined;
  return `${readProc('sys/kernel/random/boot_id')?.trim() ?? ''}/${stat.started}`;
}

/** The moment that a living process started, as a text to compare; undefined for a dead one or a zombie. */
export const startOf = (pid: number): string | undefined => (LINUX ? linuxStart(pid) : ps(pid, 'lstart'));

export const isAlive = (pid: number): boolean => startOf(pid) !== undefined;

/** What a living process was started as. Where only `ps` tells, words are cut at blanks. */
export function commandLine(pid: number): readonly string[] {
  if (LINUX) return readProc(`${pid}/cmdline`)?.split('\0').slice(0, -1) ?? [];
  return ps(pid, 'command')?.split(' ') ?? [];
}
