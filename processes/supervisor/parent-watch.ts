/**
 * Notices within a second that the parent process has ended; if the parent is only the shell of `sh -c`, also that the
 * process above it has. For a gateway that npm started; workers watch their supervisor (processes/child/supervisor-watch.ts).
 */
import { basename } from 'node:path';
import type { Clock } from '../../contracts/clock.js';
import { commandLine, parentOf } from '../process-table.js';

const EVERY_MS = 1000;
const INIT = 1;

const isShell = ([program = '', option]: readonly string[]): boolean =>
  /^(sh|ash|dash|bash|busybox)$/.test(basename(program)) && option === '-c';

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Calls `gone` once, within a second or so. The result ends the watch. */
export function watchParents(clock: Clock, gone: () => void): () => void {
  const parent = process.ppid;
  if (parent <= INIT) return () => undefined;
  const above = isShell(commandLine(parent)) ? (parentOf(parent) ?? INIT) : INIT;
  let stop: () => void = () => undefined;
  const look = (): void => {
    if (process.ppid !== parent || (above > INIT && !isThere(above))) gone();
    else stop = clock.after(EVERY_MS, look);
  };
  look();
  return () => stop();
}
