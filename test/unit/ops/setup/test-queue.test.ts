/** In which order and how many at a time test files run (ops/setup/test-queue.mjs), with a meter and a clock of the test's own. */
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';

interface File {
  readonly name: string;
  readonly lane: 'calls' | 'others';
  readonly slow: boolean;
}
interface Times {
  readonly times: { readonly user: number; readonly idle: number };
}
type Run = (file: File, lane: { nice: number }) => Promise<void>;
const { createQueue, createIdleMeter } = (await import(
  new URL('ops/setup/test-queue.mjs', CHECKOUT).href
)) as {
  createIdleMeter(processors: () => Times[]): () => number;
  createQueue(
    files: readonly File[],
    options: { least: number; most: number; idle(): number; wait(): Promise<void> },
  ): { drain(run: Run): Promise<void> };
};

const named = (names: string, lane: File['lane'], slow = false): File[] =>
  [...names].map((name) => ({ name, lane, slow }));

/** A queue whose files end when the test says so, and which asks its meter when the test says so. */
function queueOf(files: readonly File[], { least = 1, most = 1, idle = 0 } = {}) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  let tick = (): void => undefined;
  const run: Run = ({ name }) => {
    begun.push(name);
    return new Promise((resolve) => ends.set(name, resolve));
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const wait = () => new Promise<void>((resolve) => (tick = resolve));
  const done = createQueue(files, { least, most, idle: () => idle, wait }).drain(run);
  return {
    done,
    begun: () => begun.join(''),
    async ask(times = 1) {
      for (let asked = 0; asked < times; asked += 1) {
        tick();
        await settled();
      }
    },
    async end(names: string) {
      for (const name of names) {
        ends.get(name)?.();
        await settled();
      }
    },
  };
}

t.test('each lane has half of the places, and takes of the other when its own files are out', async (t) => {
  const queue = queueOf([...named('abc', 'calls'), ...named('xy', 'others')], { least: 2, most: 2 });
  t.equal(queue.begun(), 'ax');
  await queue.end('xy');
  t.equal(queue.begun(), 'axyb', 'no other file is left: a call');
  await queue.end('abc');
  await queue.done;
});

t.test('slow files begin before the others of their lane, in the order of the list', async (t) => {
  const queue = queueOf([...named('ab', 'calls'), ...named('cd', 'calls', true)]);
  await queue.end('cdab');
  await queue.done;
  t.equal(queue.begun(), 'cdab');
});

t.test('while processors have time left, one file more begins, up to the most', async (t) => {
  const queue = queueOf([...named('abcd', 'calls'), ...named('x', 'others')], { most: 3, idle: 0.5 });
  t.equal(queue.begun(), 'a');
  await queue.ask();
  t.equal(queue.begun(), 'ab');
  await queue.ask(3);
  t.equal(queue.begun(), 'abc', 'three are the most');
  await queue.end('b');
  await queue.ask();
  t.equal(queue.begun(), 'abcd', 'a place that was added is free again');
  await queue.end('acdx');
  await queue.ask();
  await queue.done;
  t.equal(queue.begun(), 'abcdx');
});

t.test('busy processors get no more files', async (t) => {
  const queue = queueOf(named('ab', 'calls'), { most: 3, idle: 0.05 });
  await queue.ask(3);
  t.equal(queue.begun(), 'a');
  await queue.end('ab');
  await queue.ask();
  await queue.done;
});

t.test('the run ends when the last file has, whichever place it had', async (t) => {
  const queue = queueOf(named('ab', 'calls'), { most: 2, idle: 1 });
  await queue.ask();
  await queue.end('a');
  let ended = false;
  void queue.done.then(() => (ended = true));
  await queue.ask(2);
  t.notOk(ended, 'b still runs');
  await queue.end('b');
  await queue.done;
});

t.test('the meter tells the share of time that no processor used since it was asked last', async (t) => {
  const readings = [
    [100, 100],
    [150, 250],
    [350, 250],
  ].map(([user = 0, idle = 0]) => [{ times: { user, idle } }]);
  const idle = createIdleMeter(() => readings.shift() ?? []);
  t.equal(idle(), 0.75);
  t.equal(idle(), 0);
});
