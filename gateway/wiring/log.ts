/**
 * The log: JSON lines on standard error, so that standard output stays for the greeting. It never holds
 * keys, transcripts, audio or audio addresses: rooms log ids, names, counts and causes, and secrets that slip
 * through in a header or a URL are masked here. Lines are written in batches, a tenth of a second late at most; a process
 * that ends by itself writes the rest first.
 */
import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { SuperviseOptions } from '../../processes/supervisor/supervise-options.js';

type Destination = ReturnType<typeof pino.destination>;

/** Fields whose values are masked, in a line and in the objects within it. */
const SECRET = new Set([
  'authorization',
  'key',
  'token',
  'secret',
  'password',
  'headers',
  'text',
  'audio',
  'transcript',
]);
const HIDDEN = '[hidden]';

/** The file descriptor that the log is written to. */
const STANDARD_ERROR = 2;
/** A batch is written at this size, or at this age. */
const GATHERED_BYTES = 8 * 1024;
const GATHERED_MS = 100;

/** Error codes of writes to an output that nobody reads any more. */
const GONE = new Set(['EIO', 'EPIPE']);

type Fields = Record<string, unknown>;

/** The same fields, or a copy with some masked. */
function withoutSecrets<T extends object>(fields: T): T {
  const secrets = Object.keys(fields).filter((name) => SECRET.has(name));
  if (secrets.length === 0) return fields;
  return { ...fields, ...Object.fromEntries(secrets.map((name) => [name, HIDDEN])) };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Masks a line's fields, and those of nested objects. Errors are masked once they are fields (`error`). */
function line(fields: Fields): Fields {
  const shown = { ...withoutSecrets(fields) };
  for (const [name, value] of Object.entries(shown))
    if (isObject(value) && !(value instanceof Error)) shown[name] = withoutSecrets(value);
  return shown;
}

const error = (value: unknown): unknown => {
  const told: unknown = value instanceof Error ? pino.stdSerializers.err(value) : value;
  return isObject(told) ? withoutSecrets(told) : told;
};

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
 * that the process can still shut down in order.
 */
export function standardError(): Destination {
  const destination = pino.destination({
    dest: STANDARD_ERROR,
    sync: false,
    minLength: GATHERED_BYTES,
  });
  flushInTime(destination);
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

export const createLog = (level: string, destination: DestinationStream = standardError()): Logger =>
  pino({ level, base: null, formatters: { log: line }, serializers: { err: error } }, destination);

/** A whole line of this log. */
const LINE = /^\{"level":.*\}$/;

/**
 * Takes what the gateway processes of WORKERS print. Their lines have passed their own log, so they go into ours as they are:
 * logged once more they would all be warnings, which `LOG_LEVEL=error` drops. Anything else is a warning.
 */
export const takeLines =
  (destination: DestinationStream, log: Logger): Required<SuperviseOptions>['output'] =>
  (line, _from, child) => {
    if (LINE.test(line)) destination.write(`${line}\n`);
    else log.warn(child, line);
  };
