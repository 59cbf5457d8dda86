/**
 * Standard error as the log writes it: in batches, a tenth of a second late at most; a process that ends by itself writes the rest
 * first. A reader that has gone ends the log and nothing else.
 */
import { writeSync } from 'node:fs';
import { pino } from 'pino';

export type Destination = ReturnType<typeof pino.destination>;

/** The file descriptor that the log is written to. */
const STANDARD_ERROR = 2;
/** A batch is written at this size, or at this age. */
const GATHERED_BYTES = 8 * 1024;
const GATHERED_MS = 100;

/** Error codes of writes to an output that nobody reads any more. */
const GONE = new Set(['EIO', 'EPIPE']);

/** Whether standard error is not a closed terminal, which refuses even a write of nothing. */
function isWritable(): boolean {
  try {
    writeSync(STANDARD_ERROR, '');
    return true;
  } catch {
    return false;
  }
}

/** Writes batches in time, with a timer that runs only while there are lines: the library's own writes even when there are none. */
function flushInTime(destination: Destination): void {
  const write = destination.write.bind(destination);
  let timer: NodeJS.Timeout | undefined;
  let left = 0;
  const look = (): void => {
    if (left > 0) return destination.flush();
    clearInterval(timer);
    timer = undefined;
  };
  destination.on('write', (bytes) => (left -= bytes));
  destination.write = (line) => {
    left += Buffer.byteLength(line);
    timer ??= setInterval(look, GATHERED_MS).unref();
    return write(line);
  };
}

/**
 * Standard error. A closed terminal refuses every line (EIO): lines are then dropped, as for a pipe whose reader has gone, so
 * that the process can still shut down in order. `shown`: what is written of a line.
 */
export function standardError(shown: (line: string) => string = (line) => line): Destination {
  const destination = pino.destination({
    dest: STANDARD_ERROR,
    sync: false,
    minLength: GATHERED_BYTES,
  });
  flushInTime(destination);
  const write = destination.write.bind(destination);
  destination.write = (line) => write(shown(line));
  const flushSync = destination.flushSync.bind(destination);
  // The library's own, which runs at exit, repeats a refused write for ever.
  destination.flushSync = () => {
    if (isWritable()) flushSync();
  };
  destination.on('error', (fault: NodeJS.ErrnoException) => {
    if (!GONE.has(fault.code ?? '')) throw fault;
    const dropped = (): undefined => undefined;
    const flush = (done?: () => void): void => done?.();
    Object.assign(destination, { write: dropped, flush, flushSync: dropped, end: dropped });
  });
  return destination;
}
