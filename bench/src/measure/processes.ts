/** CPU and memory of processes of this machine, as Linux counts them in /proc. */
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_A_SECOND = 100;

/** The fields of /proc/PID/stat behind the command's name; undefined where the process has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return undefined;
  }
}

const allPids = (): number[] => {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
};

/** The process and all below it. */
export function familyOf(root: number): number[] {
  const parents = new Map(allPids().map((pid) => [pid, Number(statOf(pid)?.[1])]));
  const family = new Set([root]);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const [pid, parent] of parents) if (family.has(parent)) family.add(pid);
  }
  return [...family];
}

/** The words of its command line; empty where the process has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** The members of a family whose command line holds `words`, itself excluded. */
export const membersOf = (root: number, words: string): number[] =>
  familyOf(root).filter((pid) => pid !== root && commandOf(pid).includes(words));

const ticks = (fields: readonly string[], from: number): number =>
  ((Number(fields[from]) + Number(fields[from + 1])) * 1000) / TICKS_A_SECOND;

/** Nanoseconds that the threads of a process have run, as the scheduler counts them; undefined where it tells nothing. */
function scheduled(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]))
      .reduce((sum, time) => sum + time, 0);
  } catch {
    return undefined;
  }
}

/** CPU of one process so far, in milliseconds; 0 where it has ended. Ticks are ten of them, the scheduler is exact. */
export function cpuOf(pid: number): number {
  const nanoseconds = scheduled(pid);
  if (nanoseconds !== undefined && nanoseconds > 0) return nanoseconds / 1e6;
  return ticks(statOf(pid) ?? ['', ...Array<string>(12).fill('0')], 11);
}

/** CPU of a process, of all below it, and of those of them that have ended, in milliseconds. */
export const familyCpu = (root: number): number =>
  familyOf(root).reduce((sum, pid) => {
    const fields = statOf(pid);
    return fields === undefined ? sum : sum + ticks(fields, 11) + ticks(fields, 13);
  }, 0);

/** Memory of a process in MB, shared pages counted in parts (PSS); 0 where it has ended. */
export function memoryOf(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

export const familyMemory = (root: number): number =>
  familyOf(root).reduce((sum, pid) => sum + memoryOf(pid), 0);
