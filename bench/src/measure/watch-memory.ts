/** The most memory that a process has had resident while something went on. */
import { readFileSync } from 'node:fs';

const LOOK_MS = 20;

/** MiB; 0 where the process has ended. */
export function residentOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return 0;
  }
}

/** Watches from now on. What it returns ends that, and tells the most that was seen, in MiB. */
export function watchResident(pid: number): () => number {
  let most = residentOf(pid);
  const timer = setInterval(() => (most = Math.max(most, residentOf(pid))), LOOK_MS);
  return () => {
    clearInterval(timer);
    return Math.max(most, residentOf(pid));
  };
}
