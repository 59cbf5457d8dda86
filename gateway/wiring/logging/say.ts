/**
 * What the gateway says to whoever started it, before it has a log or because it cannot start: a line for people, or a line as the
 * log's for programs, whatever LOG_LEVEL says.
 */
import { createLog, isForPeople, type LogFormat } from '../log.js';

const formatIn = ({ LOG_FORMAT: format }: NodeJS.ProcessEnv): LogFormat =>
  format === 'json' || format === 'text' ? format : 'auto';

const atOnce = { write: (line: string) => void process.stderr.write(line) };

export function say(level: 'warn' | 'fatal', words: string): void {
  const line = `speech gateway: ${words}`;
  if (isForPeople(formatIn(process.env))) atOnce.write(`${line}\n`);
  else createLog('trace', atOnce)[level]({}, line);
}
