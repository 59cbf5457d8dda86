/**
 * Whom the kernel ends first when memory runs out: it takes the process with the most, in a small control group often the
 * supervisor, with which everything ends. A child is replaced within seconds.
 */
import { readFileSync, writeFileSync } from 'node:fs';

/** In thousandths of the memory, added to what a process has itself. Decoders have more (codecs/decode/limited.sh). */
const CHILD_SCORE = 500;

/** Makes a child of ours end before this process. Does nothing where the system has no such setting, or does not allow it. */
export function goesFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(CHILD_SCORE));
  } catch {
    // Another system, or a sandbox: the kernel's own order stands.
  }
}

/** Where the kernel counts the processes that it has killed in this control group: version 2, and version 1. */
const COUNTS = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'];

/** How many processes of this control group were killed for lack of memory; undefined where the kernel does not tell. */
export function killedForMemory(files: readonly string[] = COUNTS): number | undefined {
  for (const file of files) {
    try {
      const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(file, 'latin1')) ?? [];
      if (count !== undefined) return Number(count);
    } catch {
      // Another version, another system, or a sandbox.
    }
  }
  return undefined;
}

const MIB = 1024 * 1024;

/** `limit 384 MiB`; empty if the control group has none. */
export function memoryLimit(bytes: number = process.constrainedMemory()): string {
  const isLimited = bytes > 0 && bytes < Number.MAX_SAFE_INTEGER;
  return isLimited ? `limit ${Math.round(bytes / MIB)} MiB` : '';
}
