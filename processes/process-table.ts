/**
 * The process table. A process is identified by its number and its start time, since the kernel reuses numbers
 * (in a container, soon).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const LINUX = existsSync('/proc/self/stat');
const PS_OPTIONS = { encoding: 'utf8', timeout: 5000 } as const;

const readProc = (path: string): string | undefined => {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return undefined;
  }
};

const ps = (pid: number, column: string): string | undefined => {
  const args = ['-ww', '-o', `${column}=`, '-p', String(pid)];
  const { stdout } = spawnSync('ps', args, PS_OPTIONS);
  return stdout?.trim() || undefined;
};

/** State, parent, and start in ticks since boot: fields 3, 4 and 22 of proc(5) stat, counted after the name. */
function procStat(pid: number): { state: string; parent: number; started: string } | undefined {
  const stat = readProc(`${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: Number(fields[1]), started: fields[19] ?? '' };
}

function linuxStart(pid: number): string | undefined {
  const stat = procStat(pid);
  if (!stat || stat.state === 'Z' || stat.state === 'X') return undefined;
  return `${readProc('sys/kernel/random/boot_id')?.trim() ?? ''}/${stat.started}`;
}

/** Start time of a living process, as text to compare; undefined for a dead one or a zombie. */
export const startOf = (pid: number): string | undefined => (LINUX ? linuxStart(pid) : ps(pid, 'lstart'));

export const isAlive = (pid: number): boolean => startOf(pid) !== undefined;

/** Command line of a living process. If only `ps` knows it, arguments are split at blanks. */
export function commandLine(pid: number): readonly string[] {
  if (LINUX) return readProc(`${pid}/cmdline`)?.split('\0').slice(0, -1) ?? [];
  return ps(pid, 'command')?.split(' ') ?? [];
}

/** Numbers of the processes whose command line fits. */
export function processesLike(fits: (command: readonly string[]) => boolean): readonly number[] {
  if (LINUX) {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return pids.filter((pid) => fits(commandLine(pid)));
  }
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,command='], PS_OPTIONS);
  const rows = (stdout ?? '').split('\n').map((row) => row.trim().split(' '));
  return rows.filter(([, ...command]) => fits(command)).map(([pid]) => Number(pid));
}

/** Parent of a process; undefined for a dead one. */
export const parentOf = (pid: number): number | undefined =>
  LINUX ? procStat(pid)?.parent : Number(ps(pid, 'ppid')) || undefined;

/** Effective user of a process; undefined for a dead one. */
export function userOf(pid: number): number | undefined {
  const found = LINUX ? /^Uid:\t\d+\t(\d+)/m.exec(readProc(`${pid}/status`) ?? '')?.[1] : ps(pid, 'uid');
  return found === undefined ? undefined : Number(found);
}

/** What a process does, and how long its threads have waited for a processor since they started, taken together. */
export interface ProcessState {
  readonly state: 'stopped' | 'disk' | 'other';
  /** 0 if the system does not tell. */
  readonly waitedMs: number;
}

const STATES: Readonly<Record<string, ProcessState['state']>> = { T: 'stopped', t: 'stopped', D: 'disk' };

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/**
 * All threads, since the first one may wait for another that waits for a processor: V8's collector and the engines work on
 * threads of their own. In a schedstat stand nanoseconds on a processor, nanoseconds in its queue, turns.
 */
function waitedMs(pid: number): number {
  const waited = threadsOf(pid).map((task) =>
    Number(readProc(`${pid}/task/${task}/schedstat`)?.split(' ')[1] ?? 0),
  );
  return waited.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** How a living process rests; undefined for a dead one, and outside of Linux. */
export function restOf(pid: number): ProcessState | undefined {
  const stat = LINUX ? procStat(pid) : undefined;
  if (stat === undefined) return undefined;
  return { state: STATES[stat.state] ?? 'other', waitedMs: waitedMs(pid) };
}

/** Whether it is a process of our user, started at `started`, with the word as an argument on its command line. */
export const isOurs = (pid: number, word: string, started = startOf(pid)): boolean =>
  started !== undefined &&
  startOf(pid) === started &&
  userOf(pid) === process.geteuid?.() &&
  commandLine(pid).includes(word);
