/**
 * A stream whose next value is made while its reader works on the one before. One value waits at most. What fails is told
 * in its turn; whoever leaves waits until the value that is being made has come, or failed.
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
