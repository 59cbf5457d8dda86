/** The log that this room writes to: pino's shape, so that a pino logger is one. Never given job values. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const nothing = (): void => undefined;

export const silentLog: Log = { info: nothing, warn: nothing, error: nothing };
