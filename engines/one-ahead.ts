/**
 * A stream whose next value is produced while its reader works on the previous one. At most one value waits. An error is
 * thrown in its turn; a reader that leaves waits until the value being produced has come, or failed.
 */
export async function* oneAhead<T>(values: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = values[Symbol.asyncIterator]();
  const make = (): Promise<IteratorResult<T>> => {
    const making = iterator.next();
    making.catch(() => undefined);
    return making;
  };
  let making = make();
  try {
    for (let step = await making; !step.done; step = await making) {
      making = make();
      yield step.value;
    }
  } finally {
    await iterator.return?.();
  }
}
