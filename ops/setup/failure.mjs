/** Failures of set-up that a person reads: what went wrong, and what to do where that is known. */
export class SetupError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'SetupError';
  }
}

const DISK_FAULTS = {
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'there is no permission to write here',
  EPERM: 'there is no permission to write here',
  ENOTDIR: 'a file stands where a folder is needed',
};

/** A fault of the disk in words, or undefined for any other error. */
export function diskFault(error) {
  const fault = DISK_FAULTS[error?.code];
  return fault && `${fault}${error.path ? `: ${error.path}` : ''} (${error.code})`;
}

/** One paragraph for the reader. An error that nobody foresaw keeps its stack. */
export function explain(error) {
  if (error instanceof SetupError) return error.message;
  return diskFault(error) ?? error?.stack ?? String(error);
}
