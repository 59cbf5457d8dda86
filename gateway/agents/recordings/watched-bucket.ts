/** A bucket whose answers and failures are told to the keeper of parts. */
import { asked, type Keeper, type Part } from '../../../contracts/ports/parts.js';
import type { Bucket } from './bucket.js';

/** Errors: those of the bucket. An address is made here, and asks nobody. */
export function watchedBucket(bucket: Bucket, part: Part, keeper: Keeper): Bucket {
  keeper.knowPart(part);
  const ask = <T>(work: () => Promise<T>): Promise<T> => asked(keeper.ask(part), work);
  return {
    url: bucket.url,
    put: (...args) => ask(() => bucket.put(...args)),
    read: (...args) => ask(() => bucket.read(...args)),
    size: (...args) => ask(() => bucket.size(...args)),
    list: (...args) => ask(() => bucket.list(...args)),
    remove: (...args) => ask(() => bucket.remove(...args)),
    begin: (...args) => ask(() => bucket.begin(...args)),
    part: (...args) => ask(() => bucket.part(...args)),
    complete: (...args) => ask(() => bucket.complete(...args)),
    abort: (...args) => ask(() => bucket.abort(...args)),
    begun: (...args) => ask(() => bucket.begun(...args)),
    parts: (...args) => ask(() => bucket.parts(...args)),
    address: (...args) => bucket.address(...args),
  };
}
