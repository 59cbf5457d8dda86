/**
 * The log: JSON lines on standard error, so that standard output stays for the greeting; on a terminal, or as LOG_FORMAT says, lines
 * that people read (logging/readable.ts). It never holds keys, transcripts, audio or audio addresses: rooms log ids, names, counts and
 * causes, and secrets that slip through in a header or a URL are masked here. What happens again and again is counted
 * (logging/repeats.ts).
 */
import { type DestinationStream, type Logger, pino } from 'pino';
import { type Clock, systemClock } from '../../contracts/clock.js';
import type { SuperviseOptions } from '../../processes/supervisor/supervise-options.js';
import { readable } from './logging/readable.js';
import { type Candidate, type Fields, RepeatedLines } from './logging/repeats.js';
import { type Destination, standardError } from './logging/standard-error.js';

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

/** The same fields, or a copy with some masked. */
function withoutSecrets<T extends object>(fields: T): T {
  const secrets = Object.keys(fields).filter((name) => SECRET.has(name));
  if (secrets.length === 0) return fields;
  return { ...fields, ...Object.fromEntries(secrets.map((name) => [name, HIDDEN])) };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Masks a line's fields, and those of nested objects. Errors are masked once they are fields (`error`). */
function line(fields: Fields): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...withoutSecrets(fields) };
  for (const [name, value] of Object.entries(shown))
    if (isObject(value) && !(value instanceof Error)) shown[name] = withoutSecrets(value);
  return shown;
}

const error = (value: unknown): unknown => {
  const told: unknown = value instanceof Error ? pino.stdSerializers.err(value) : value;
  return isObject(told) ? withoutSecrets(told) : told;
};

export { standardError } from './logging/standard-error.js';

export type LogFormat = 'auto' | 'json' | 'text';

/** Whether people read it: `auto` means lines for them on a terminal, and JSON for programs everywhere else. */
export const isForPeople = (format: LogFormat): boolean =>
  format === 'auto' ? process.stderr.isTTY : format === 'text';

/** Standard error, in that format. */
export function logOutput(format: LogFormat): Destination {
  const isColoured = process.stderr.isTTY && !process.env['NO_COLOR'];
  return standardError(isForPeople(format) ? readable(isColoured) : undefined);
}

const candidateOf = (
  [first, second]: readonly unknown[],
  level: number,
  write: Candidate['write'],
): Candidate =>
  isObject(first)
    ? { level, fields: first as Fields, message: String(second), write }
    : { level, fields: {}, message: String(first), write };

export function createLog(
  level: string,
  destination: DestinationStream = standardError(),
  clock: Clock = systemClock,
): Logger {
  const repeats = new RepeatedLines(clock);
  return pino(
    {
      level,
      base: null,
      formatters: { log: line },
      serializers: { err: error },
      hooks: {
        logMethod(words, write, number) {
          const again: Candidate['write'] = (fields, message) => write.call(this, fields, message);
          if (repeats.admits(candidateOf(words, number, again))) write.apply(this, words);
        },
      },
    },
    destination,
  );
}

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
