/** A control group with a bound of memory for this process and what it starts, by either version of the interface. Needs root. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';

interface Version {
  readonly folder: string;
  readonly limit: string;
  /** Turned on in the group above, if that is needed. */
  readonly control?: string;
}

const VERSIONS: readonly Version[] = [
  { folder: ROOT, limit: 'memory.max', control: 'cgroup.subtree_control' },
  { folder: join(ROOT, 'memory'), limit: 'memory.limit_in_bytes' },
];

function enter({ folder, limit, control }: Version, bytes: number): () => void {
  const group = join(folder, `gateway-attack-${process.pid}`);
  if (control !== undefined) writeFileSync(join(folder, control), '+memory');
  mkdirSync(group);
  try {
    writeFileSync(join(group, limit), String(bytes));
    writeFileSync(join(group, 'cgroup.procs'), String(process.pid));
  } catch (error) {
    rmdirSync(group);
    throw error;
  }
  process.once('exit', () => remove(group));
  return () => writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));
}

/** Of version 1 it stays when its last process has gone. */
function remove(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // Something of the gateway is still there.
  }
}

/** Puts what `start` starts into a group of that many bytes, and this process back out. Errors: why that cannot be done here. */
export async function inGroup<T>(bytes: number, start: () => Promise<T>): Promise<T> {
  const version = VERSIONS.find(({ folder, control }) => existsSync(join(folder, control ?? 'cgroup.procs')));
  if (version === undefined) throw new Error('this system has no control groups for memory');
  const leave = enter(version, bytes);
  try {
    return await start();
  } finally {
    leave();
  }
}
