/**
 * What is printed past the log in this process, by libraries and by Node itself, becomes lines of the log: the console, warnings
 * of Node, errors that nobody has caught. Children's output becomes lines where they are supervised.
 */
import { format } from 'node:util';
import type { Logger } from 'pino';

/** Methods of the console that libraries use, and the level of what they say. */
const CONSOLE = {
  trace: 'debug',
  debug: 'debug',
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
} as const;

/** The exit code of a process that ends because of an error that nobody has caught, as Node's own. */
const UNCAUGHT = 1;

type Log = Pick<Logger, (typeof CONSOLE)[keyof typeof CONSOLE] | 'fatal'>;

function takeConsole(log: Log): void {
  for (const [method, level] of Object.entries(CONSOLE))
    Object.assign(console, {
      [method]: (...words: unknown[]) => log[level]({ source: 'console' }, format(...words)),
    });
}

function takeWarnings(log: Log): void {
  // Node's own listener prints them.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, code }: NodeJS.ErrnoException) =>
    log.warn({ source: 'node', name, code }, message),
  );
}

/** From now on all of that is logged. A process that fails ends as it would have, once its log is written. */
export function takeStrays(log: Log): void {
  takeConsole(log);
  takeWarnings(log);
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'nobody has caught an error: the process ends');
    process.exit(UNCAUGHT);
  });
}
