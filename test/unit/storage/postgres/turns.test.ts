/** ConnectionTurns at places of which there are few: owners alternate, none takes all, and whoever waits too long is refused. */
import t from '../../../fixtures/tap.js';
import { type TurnLimits, ConnectionTurns, type TurnRequest } from '../../../../storage/postgres/turns.js';
import { SimulatedClock } from '../../../fixtures/clock.js';

const LIMITS: TurnLimits = { waiting: 4, waitMs: 1000 };

function lot(places: number) {
  const clock = new SimulatedClock();
  const turns = new ConnectionTurns(
    Array.from({ length: places }, (_, index) => index),
    LIMITS,
    clock,
  );
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const want = async (tag: string, more: Partial<TurnRequest> = {}): Promise<string> => {
    try {
      const { end } = await turns.take({ tag, long: false, ...more });
      order.push(tag);
      ends.push(end);
      return 'entered';
    } catch (error) {
      return (error as { code?: string }).code ?? (error as Error).message;
    }
  };
  /** Ends the turn that has lasted longest. */
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await settled();
  };
  return { clock, turns, order, want, endOne };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('an owner has its share of the places, and the others find the rest', async (t) => {
  const { want, order, turns } = lot(3);
  for (const tag of ['a', 'a', 'a', 'a', 'b']) void want(tag);
  await settled();
  t.strictSame(order, ['a', 'a', 'b']);
  t.equal(turns.waiting, 2);
});

t.test('owners alternate, whatever the number that each has waiting', async (t) => {
  const { want, order, endOne } = lot(1);
  for (const tag of ['a', 'a', 'a', 'b', 'c']) void want(tag);
  for (let times = 0; times < 5; times += 1) await endOne();
  t.strictSame(order, ['a', 'b', 'c', 'a', 'a']);
});

t.test('a statement that may last never takes the last connection', async (t) => {
  const { want, order, endOne } = lot(3);
  for (const tag of ['a', 'b', 'c']) void want(tag, { long: true });
  void want('d');
  await settled();
  t.strictSame(order, ['a', 'b', 'd']);
  await endOne();
  t.strictSame(order, ['a', 'b', 'd', 'c'], 'and gets the next');
});

t.test('whoever waits too long, or makes too many wait, is refused', async (t) => {
  const { want, clock } = lot(1);
  const first = await want('a');
  const late = want('a');
  const hurried = want('b', { withinMs: 100 });
  const waiting = [want('a'), want('a')];
  t.equal(first, 'entered');
  t.equal(await want('a'), 'storage_busy', 'the one that has most waiting');
  const other = want('c');
  t.equal(await waiting.pop(), 'storage_busy', 'also if another comes');
  clock.advance(100);
  t.equal(await hurried, 'storage_busy');
  clock.advance(900);
  t.strictSame(await Promise.all([late, other, ...waiting]), [
    'storage_busy',
    'storage_busy',
    'storage_busy',
  ]);
});

t.test('an owner that has gone waits no longer, and lets those behind it in', async (t) => {
  const { want, order, turns, endOne } = lot(2);
  const gone = new AbortController();
  await want('a');
  await want('b');
  const leaves = want('c', { long: true, signal: gone.signal });
  void want('c');
  gone.abort(new Error('has gone'));
  t.equal(await leaves, 'has gone');
  t.equal(await want('d', { signal: gone.signal }), 'has gone', 'nor begins to');
  t.equal(turns.waiting, 1);
  await endOne();
  t.strictSame(order, ['a', 'b', 'c']);
  t.equal(turns.waiting, 0);
});
