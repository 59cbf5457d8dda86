/** Structured logging as a port, which pino implements unchanged. Fields never carry keys, transcripts or audio. */
type Line = (fields: object, message: string) => void;

export interface Log {
  readonly debug: Line;
  readonly info: Line;
  readonly warn: Line;
  readonly error: Line;
}

const nothing: Line = () => undefined;

export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
