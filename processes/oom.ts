/**
 * Whom the kernel ends first when memory runs out: it takes the process with the most, in a small control group often the
 * supervisor, with which everything ends. A child is replaced within seconds.
 */
import { writeFileSync } from 'node:fs';

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
