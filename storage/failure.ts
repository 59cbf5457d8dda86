/**
 * An error of storage for the operator: one clear line that names the setting to change. `main` and the
 * keys command print the message without a stack.
 */
export class StorageFailure extends Error {
  override readonly name = 'StorageFailure';
}

/** The code of a system, connection or Postgres error: `EACCES`, `CONNECT_TIMEOUT`, `28P01`. */
export const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
