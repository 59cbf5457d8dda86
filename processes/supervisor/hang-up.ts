/**
 * SIGHUP, which the system sends to all processes of a terminal that is closed. `nohup` makes a program ignore it, but Node,
 * and so npm, resets that as it starts; so `nohup` is recognised by its other traces.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** Mask of the access mode in the flags of an open file, and the mode of files that can only be written. */
const ACCESS = 0b11;
const WRITE_ONLY = 1;

/** Whether standard input is /dev/null opened for writing only, which GNU's `nohup` puts in place of a terminal. False outside of Linux. */
function hasInputOfNohup(): boolean {
  try {
    const [, flags = ''] = /^flags:\s*([0-7]+)$/m.exec(readFileSync('/proc/self/fdinfo/0', 'latin1')) ?? [];
    const isWriteOnly = (Number.parseInt(flags, 8) & ACCESS) === WRITE_ONLY;
    return isWriteOnly && readlinkSync('/proc/self/fd/0') === '/dev/null';
  } catch {
    return false;
  }
}

const isNohup = (command = ''): boolean => basename(command) === 'nohup';

/** `_` of the parent, which is npm: a shell between the two may have named Node in its place. Undefined outside of Linux. */
function commandOfParent(): string | undefined {
  try {
    const variables = readFileSync(`/proc/${process.ppid}/environ`, 'latin1').split('\0');
    return variables.find((variable) => variable.startsWith('_='))?.slice(2);
  } catch {
    return undefined;
  }
}

/** Whether this process was started by `nohup`, directly or through npm. Shells name the command that they run in `_`. */
export const isUnderNohup = (): boolean =>
  isNohup(process.env['_']) || isNohup(commandOfParent()) || hasInputOfNohup();

/** Calls `listener` when the terminal of this process is closed, unless it was started to outlive that. */
export function onHangUp(listener: () => void): void {
  process.on('SIGHUP', isUnderNohup() ? () => undefined : listener);
}
