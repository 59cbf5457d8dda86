/** Output that is carried to a socket (gateway/server/pump.ts). */
import t from '../../../fixtures/tap.js';
import { pump } from '../../../../gateway/server/pump.js';
import { collectAll } from '../../../../processes/garbage.js';

async function* chunks(count: number): AsyncGenerator<number> {
  for (let at = 0; at < count; at += 1) yield at;
}

/** Lets the loop turn, so that what is awaited no more can be collected. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('a long job keeps nothing of the waits for its client', async (t) => {
  const waits: WeakRef<object>[] = [];
  const abort = new AbortController();
  let stands = (): void => undefined;
  const stood = new Promise<void>((resolve) => (stands = resolve));
  const MANY = 1000;
  const socket = {
    drained(): Promise<void> {
      if (waits.length === MANY) {
        stands();
        return new Promise(() => undefined);
      }
      const seen = {};
      waits.push(new WeakRef(seen));
      return Promise.resolve(seen) as Promise<unknown> as Promise<void>;
    },
  };
  const end = pump(chunks(MANY + 1), socket, abort.signal, () => undefined);
  await stood;
  await turn();
  collectAll();
  const held = waits.filter((wait) => wait.deref() !== undefined).length;
  t.ok(held < 10, `of ${MANY} waits ${held} are held`);
  abort.abort();
  t.strictSame(await end, { end: 'cancelled' });
});

t.test('a job that is cancelled while its client does not read ends at once', async (t) => {
  const abort = new AbortController();
  const sent: number[] = [];
  const socket = { drained: (): Promise<void> => new Promise(() => undefined) };
  const end = pump(chunks(3), socket, abort.signal, (chunk) => sent.push(chunk));
  await turn();
  abort.abort();
  t.strictSame([await end, sent], [{ end: 'cancelled' }, [0]]);
  const again = await pump(chunks(3), socket, abort.signal, (chunk) => sent.push(chunk));
  t.strictSame(
    [again, sent],
    [{ end: 'cancelled' }, [0]],
    'nor is anything sent of one that was cancelled before',
  );
});
