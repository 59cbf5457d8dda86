/**
 * How much memory may hold what waits (contracts/ports/accounts/memory.ts): the setting, or half of what the machine or the
 * control group leaves above the processes' own code and models.
 */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigError } from './setting.js';

const MIB = 1024 * 1024;
/** What an ordinary start takes with nothing to do. */
const AT_REST_BYTES = 450 * MIB;
/** Each gateway process needs this much to take one request at its limits. */
export const LEAST_MB = 64;

/** Where the files of control groups are: version 2, and the memory controller of version 1. */
const MOUNTS = {
  unified: { folder: '/sys/fs/cgroup', limit: 'memory.max' },
  memory: { folder: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
} as const;

/** With less of it a start may end, or every transcription: models and several child processes are needed at once. */
export const ENOUGH_BYTES = 768 * MIB;

type ReadText = (path: string) => string | undefined;

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The group and its ancestors: each may set a limit, and the least one counts. */
function* withAncestors(group: string): Generator<string> {
  for (let path = group; ; path = dirname(path)) {
    yield path;
    if (path === '/' || path === '.') return;
  }
}

/** The lines of /proc/self/cgroup: `0::/path` in version 2, `4:memory:/path` in version 1. */
function* limitFiles(groups: string): Generator<string> {
  for (const line of groups.split('\n')) {
    const [, id, controllers = '', group = '/'] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    const memory = controllers.split(',').includes('memory');
    const mount = memory ? MOUNTS.memory : id === '0' && controllers === '' ? MOUNTS.unified : undefined;
    if (mount) for (const path of withAncestors(group)) yield join(mount.folder, path, mount.limit);
  }
}

/** The least memory limit of the own control group and its ancestors, in bytes; infinite if there is none. */
export function groupLimit(read: ReadText = textOf): number {
  let least = Number.POSITIVE_INFINITY;
  for (const file of limitFiles(read('/proc/self/cgroup') ?? '')) {
    // Version 2 says `max` for no limit, version 1 a number beyond all memory.
    const limit = Number.parseInt(read(file) ?? '', 10);
    if (limit > 0) least = Math.min(least, limit);
  }
  return least;
}

/** What there is: the smaller of the machine's and the control group's memory, in bytes. */
const memoryHere = (): number => Math.min(totalmem(), groupLimit());

/** A line for whoever starts a gateway with less memory than it needs. */
export const littleMemory = (bytes = memoryHere()): readonly string[] =>
  bytes >= ENOUGH_BYTES
    ? []
    : [
        `There are ${Math.floor(bytes / MIB)} MiB of memory. With less than ${ENOUGH_BYTES / MIB} MiB transcription may fail, ` +
          'or everything end: give the container or the machine more',
      ];

/** The default of MEMORY_BUDGET_MB. `memoryBytes`: the smaller of the machine's and the control group's memory. */
export const defaultBudgetMb = (memoryBytes: number, workers: number): number =>
  Math.max(LEAST_MB * workers, Math.floor((memoryBytes - AT_REST_BYTES) / 2 / MIB));

/** The budget of all gateway processes in bytes. Errors: `ConfigError` if each of them would have too little. */
export function memoryBudgetBytes(
  wantedMb: number | undefined,
  workers: number,
  memoryBytes = memoryHere(),
): number {
  const budgetMb = wantedMb ?? defaultBudgetMb(memoryBytes, workers);
  if (budgetMb >= LEAST_MB * workers) return budgetMb * MIB;
  throw new ConfigError(
    `MEMORY_BUDGET_MB must be at least ${LEAST_MB} for each of WORKERS, ${LEAST_MB * workers} in all`,
  );
}
