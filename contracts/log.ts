/** Structured logging as a port, which pino implements unchanged. Fields never carry keys, transcripts or audio. */
type Line = (fields: object, message: string) => void;

export interface Log {
  readonly debug: Line;
  readonly info: Line;
  readonly warn: Line;
  readonly error: Line;
}

/** A log whose lines all carry these fields. */
export const withFields = (log: Log, fields: object): Log => ({
  debug: (own, message) => log.debug({ ...fields, ...own }, message),
  info: (own, message) => log.info({ ...fields, ...own }, message),
  warn: (own, message) => log.warn({ ...fields, ...own }, message),
  error: (own, message) => log.error({ ...fields, ...own }, message),
});

const nothing: Line = () => undefined;

export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
