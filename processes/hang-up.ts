/**
 * SIGHUP, which the system sends to all processes of a terminal that is closed. A process that `nohup` started ignores it
 * and must not listen for it, since that would end the ignoring. Only Linux reports which signals a process ignores.
 */
import { readFileSync } from 'node:fs';

/** Bit of SIGHUP, which is signal 1, in the mask of ignored signals. */
const HANG_UP = 1n;

/** Whether this process was started with SIGHUP ignored; true if that is unknown. */
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
