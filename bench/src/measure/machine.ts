/** The machine that a run was made on, and how busy others kept it meanwhile. */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { familyCpu } from './processes.js';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
}

export const describeMachine = (): Machine => ({
  cpu: os.cpus()[0]?.model ?? 'unknown',
  cores: os.availableParallelism(),
  memoryGiB: Math.round(os.totalmem() / 2 ** 30),
  system: `${os.platform()} ${os.release()} ${os.arch()}`,
  node: process.version,
});

/** Shares of the machine, NaN where they are unknown. */
export interface Elsewhere {
  /** Used by processes that are not part of the suite. */
  readonly others: number;
  /** Withheld from this virtual machine by its host (steal time). */
  readonly stolen: number;
}

interface Instant {
  /** Milliseconds of CPU, of all cores together: spent by anybody, and there in all. */
  readonly spent: number;
  readonly total: number;
  readonly stolen: number;
  /** Spent by this process, what it has started and what they have. */
  readonly ours: number;
}

/** The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal in ticks. */
function look(): Instant | undefined {
  try {
    const [, ...fields] = readFileSync('/proc/stat', 'latin1').split('\n')[0]!.trim().split(/\s+/);
    const times = fields.slice(0, 8).map((ticks) => Number(ticks) * 10);
    const total = times.reduce((sum, time) => sum + time, 0);
    const [, , , idle = 0, waiting = 0, , , stolen = 0] = times;
    return { total, stolen, spent: total - idle - waiting - stolen, ours: familyCpu(process.pid) };
  } catch {
    return undefined;
  }
}

/** Watches from now on. What it returns tells what has gone elsewhere since; unknown elsewhere than on Linux. */
export function watchMachine(): () => Elsewhere {
  const before = look();
  return () => {
    const after = look();
    if (before === undefined || after === undefined || after.total === before.total)
      return { others: Number.NaN, stolen: Number.NaN };
    const total = after.total - before.total;
    const others = after.spent - before.spent - (after.ours - before.ours);
    return { others: Math.max(0, others / total), stolen: (after.stolen - before.stolen) / total };
  };
}
