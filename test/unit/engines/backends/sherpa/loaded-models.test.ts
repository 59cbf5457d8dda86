/** Models in memory: loaded at first use, bounded in number, the least recently used are unloaded. */
import t from '../../../../fixtures/tap.js';
import { LoadedModels, type Loadable } from '../../../../../engines/backends/sherpa/loaded-models.js';
import { rejectsExactly } from '../../../../fixtures/exactly.js';

interface Model extends Loadable<string> {
  readonly name: string;
  loads: number;
}

const model = (name: string, bytes = 10): Model => ({
  name,
  bytes,
  loads: 0,
  load() {
    this.loads += 1;
    return Promise.resolve(name);
  },
});

const idle = (): AbortSignal => new AbortController().signal;
/** Lets all pending work run, for a turn of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function memory(mostBytes: number) {
  let collections = 0;
  const models = new LoadedModels(mostBytes, () => (collections += 1));
  return {
    models,
    collections: () => collections,
    use: (wanted: Model, signal = idle()) => models.use(wanted, (loaded) => Promise.resolve(loaded), signal),
    /** Uses the model until the returned function is called. */
    async occupy(wanted: Model) {
      let end = (): void => {};
      const ended = new Promise<void>((resolve) => (end = resolve));
      const working = models.use(wanted, () => ended, idle());
      await turn();
      return async () => {
        end();
        await working;
      };
    },
  };
}

t.test('a model is loaded at its first use, and once for all of them', async (t) => {
  const { use, collections } = memory(100);
  const [one, other] = [model('one'), model('other')];
  t.strictSame(await Promise.all([use(one), use(one)]), ['one', 'one']);
  t.equal(await use(one), 'one');
  t.strictSame([one.loads, other.loads, collections()], [1, 0, 0]);
});

t.test('the least recently used leaves when the next one would take more than the bound', async (t) => {
  const { use, collections } = memory(20);
  const [a, b, c] = [model('a'), model('b'), model('c')];
  for (const wanted of [a, b, a, c, a]) await use(wanted);
  t.strictSame([a.loads, b.loads, c.loads, collections()], [1, 1, 1, 1], 'b left for c');
  await use(b);
  t.strictSame([a.loads, b.loads, c.loads], [1, 2, 1]);
});

t.test('a model larger than the bound is loaded alone', async (t) => {
  const { use } = memory(20);
  const [small, large] = [model('small'), model('large', 50)];
  for (const wanted of [small, large, large, small]) await use(wanted);
  t.strictSame([small.loads, large.loads], [2, 1]);
});

t.test('a model in use stays loaded, and requests without room wait in their order', async (t) => {
  const { use, occupy } = memory(20);
  const [busy, large, small] = [model('busy'), model('large', 20), model('small')];
  const leave = await occupy(busy);
  const done: string[] = [];
  const later = [use(large), use(small), use(busy)].map((used) => used.then((name) => done.push(name)));
  await turn();
  t.strictSame([large.loads, small.loads, done], [0, 0, []]);
  await leave();
  await Promise.all(later);
  t.strictSame(done, ['large', 'small', 'busy'], 'as they came');
});

t.test('a request that is cancelled while it waits for room delays no other', async (t) => {
  const { use, occupy } = memory(20);
  const [busy, large, small] = [model('busy'), model('large', 20), model('small')];
  const leave = await occupy(busy);
  const leaving = new AbortController();
  const left = rejectsExactly(t, use(large, leaving.signal), { name: 'AbortError' });
  const next = use(small);
  leaving.abort();
  await left;
  t.equal(await next, 'small', 'there is room for it');
  t.equal(large.loads, 0);
  await leave();
});

t.test('a load that fails is tried again with the next use', async (t) => {
  const { use } = memory(20);
  const broken = model('broken');
  const load = broken.load.bind(broken);
  broken.load = () => Promise.reject(new Error('no such file'));
  await rejectsExactly(t, use(broken), { message: 'no such file' });
  broken.load = load;
  t.equal(await use(broken), 'broken');
});
