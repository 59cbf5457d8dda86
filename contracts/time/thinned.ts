/**
 * Repeated work that each process could do for all, but few need to: the result does it each time while `often` says so, otherwise
 * once in so many times, in case those few fail.
 */
export function thinned(
  often: () => boolean,
  times: () => number,
  work: () => Promise<unknown>,
): () => Promise<void> {
  let skipped = 0;
  return async () => {
    skipped += 1;
    if (!often() && skipped < times()) return;
    skipped = 0;
    await work();
  };
}
