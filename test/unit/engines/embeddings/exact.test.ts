/** The nearest vectors by comparing with all (engines/embeddings/exact.ts). */
import t from '../../../fixtures/tap.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';
import { ExactVectors } from '../../../../engines/embeddings/exact.js';

/** As `array_send` of Postgres has it. */
function sent(values: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(20 + 8 * values.length);
  [1, 0, 700, values.length, 1].forEach((number, at) => bytes.writeInt32BE(number, at * 4));
  values.forEach((value, at) => {
    bytes.writeInt32BE(4, 20 + at * 8);
    bytes.writeFloatBE(value, 24 + at * 8);
  });
  return bytes;
}

/** One vector a page. */
async function* pagesOf(vectors: readonly (readonly number[])[]) {
  for (const [index, vector] of vectors.entries())
    yield { dimensions: vector.length, positions: [index + 1], vectors: sent(vector) };
}

const open = (test: typeof t): ExactVectors => {
  const exact = new ExactVectors();
  test.teardown(() => exact.stop());
  return exact;
};

const HALF = Math.SQRT1_2;

t.test('the nearest of the sources that are asked for, best first', async (t) => {
  const exact = open(t);
  const keep = (key: string, ...vectors: number[][]) => exact.keep(key, 100, () => pagesOf(vectors));
  await keep('a', [1, 0], [HALF, HALF], [0, 1]);
  await keep('b', [-1, 0], [0.9, 0.1]);
  await keep('three', [1, 0, 0]);
  await keep('none');
  const near = async (keys: string[], most: number) =>
    (await exact.search(keys, Float32Array.of(1, 0), most)).map(({ key, position }) => `${key}${position}`);
  t.strictSame(await near(['a', 'b', 'three', 'none', 'unknown'], 3), ['a1', 'b2', 'a2']);
  t.strictSame(await near(['a'], 10), ['a1', 'a2', 'a3']);
  t.strictSame(await near(['b'], 1), ['b2']);
  const [first] = await exact.search(['a'], Float32Array.of(1, 0), 1);
  t.ok(Math.abs((first?.rank ?? 0) - 1) < 0.01, 'the cosine');
});

t.test('a source is read once, again if it failed, and after the thread has ended', async (t) => {
  const exact = open(t);
  let reads = 0;
  async function* read() {
    reads += 1;
    if (reads === 1) throw new Error('away');
    yield* pagesOf([[1, 0]]);
  }
  await t.rejects(exact.keep('a', 10, read), /away/);
  await Promise.all([exact.keep('a', 10, read), exact.keep('a', 10, read)]);
  t.equal(reads, 2);
  await exact.stop();
  await exact.keep('a', 10, read);
  t.equal(reads, 3);
  t.equal((await exact.search(['a'], Float32Array.of(1, 0), 5)).length, 1);
  const waiting = exact.search(['a'], Float32Array.of(1, 0), 5);
  const stopped = exact.stop();
  await rejectsExactly(t, waiting, { code: 'overloaded' });
  await stopped;
});
