/**
 * SIGHUP, which the system sends to everything that was started in a terminal when that is closed. Whoever is started by
 * `nohup` ignores it, and goes on doing so: to listen for it would end that. Only Linux tells what a process ignores.
 */
import { readFileSync } from 'node:fs';

/** Bit of SIGHUP, which is signal 1, in the mask of ignored signals. */
const HANG_UP = 1n;

/** Whether this process was started with SIGHUP ignored; where that cannot be told, it is taken to be. */
function isIgnored(): boolean {
  try {
    const [, mask = ''] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
    return (BigInt(`0x${mask}`) & HANG_UP) !== 0n;
  } catch {
    return true;
  }
}

/** Calls `listener` when the terminal of this process is closed, unless it was started to outlive that. */
export function onHangUp(listener: () => void): void {
  if (!isIgnored()) process.on('SIGHUP', listener);
}
