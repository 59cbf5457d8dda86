/**
 * The log: JSON lines on standard error, so that standard output stays for the greeting. It never holds
 * keys, transcripts, audio or audio addresses: rooms log ids, names, counts and causes, and what slips
 * through a header or a URL is redacted here.
 */
import { type Logger, pino } from 'pino';

const SECRET = [
  'authorization',
  'key',
  'token',
  'secret',
  'password',
  'headers',
  'text',
  'audio',
  'transcript',
];

export const createLog = (level: string): Logger =>
  pino(
    {
      level,
      base: null,
      redact: { paths: SECRET.flatMap((name) => [name, `*.${name}`]), censor: '[hidden]' },
    },
    pino.destination({ dest: 2, sync: false }),
  );
