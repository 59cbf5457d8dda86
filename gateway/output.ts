/** Standard output and standard error of a program. */

/** The reader of our output may exit before us, as `head` does: a closed pipe is no error. */
export function outliveReaders(): void {
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
}
