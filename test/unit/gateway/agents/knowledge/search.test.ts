/** How finds by words and by meaning become one list (gateway/agents/knowledge/search.ts). */
import t from '../../../../fixtures/tap.js';
import { systemClock } from '../../../../../contracts/clock.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import type { Embedder } from '../../../../../contracts/ports/embedding.js';
import type { WordSearch } from '../../../../../contracts/ports/agents/knowledge.js';
import type { RankedPassage } from '../../../../../contracts/ports/agents/knowledge-vectors.js';
import { ownedBy } from '../../../../../contracts/owner.js';
import { asText, merged, searchByMeaning } from '../../../../../gateway/agents/knowledge/search.js';
import { standIn } from '../../../../fixtures/stand-in.js';

const passage = (position: number, rank = 1): RankedPassage => ({
  sourceId: 'ks_1',
  revision: 1,
  position,
  rank,
});

t.test('by reciprocal rank: what both find comes first, whatever their scores', async (t) => {
  const list = merged([passage(1, 900), passage(2, 800)], [passage(3, 0.9), passage(2, 0.8)]);
  t.strictSame(
    list.map(({ position, by }) => [position, by]),
    [
      [2, 'both'],
      [1, 'words'],
      [3, 'meaning'],
    ],
  );
  t.strictSame(merged([], []), []);
});

t.test('a question is told in its order, and of a long one what was said last', async (t) => {
  t.equal(asText('And when?\nI have a dog.'), 'I have a dog.\nAnd when?');
  t.equal(asText(`And when?\n${'x'.repeat(600)}\nHello.`), 'And when?');
  t.equal(asText('x'.repeat(700)).length, 600);
});

const words = standIn<WordSearch>({
  whole: () => Promise.resolve([]),
  ranked: () => Promise.resolve([passage(1)]),
  told: (_, found) =>
    Promise.resolve(
      found.map(({ sourceId, by, rank, position }) => ({
        sourceId,
        by,
        rank,
        source: '',
        text: `${position}`,
      })),
    ),
});
const SOURCES = [{ sourceId: 'ks_1', revision: 1 }];
const EMBEDDED = [{ ...SOURCES[0]!, passages: 3, dimensions: 1 }];
const vector = [Float32Array.of(1)];

const found = async (embed: Embedder['embed'], embedded = EMBEDDED) => {
  const search = searchByMeaning({
    words,
    vectors: { embedded: () => Promise.resolve(embedded) },
    embedder: { model: 'm', embed },
    nearest: () => Promise.resolve([passage(2)]),
    clock: systemClock,
  });
  const { inCallMs: withinMs } = LIMITS.statements;
  const list = await ownedBy({ tag: 'ws', withinMs }, () => search.search('ws', SOURCES, 'When?', 5));
  return list.map(({ text, by }) => `${text} ${by}`);
};

t.test('words answer alone where the model fails, is late, or has nothing to compare with', async (t) => {
  // The clock does not keep a process alive.
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(alive));
  t.strictSame(await found(() => Promise.resolve(vector)), ['1 words', '2 meaning']);
  t.strictSame(await found(() => Promise.reject(new Error('away'))), ['1 words']);
  t.strictSame(await found(() => new Promise(() => undefined)), ['1 words'], 'late');
  t.strictSame(await found(() => t.fail('asked for nothing') as never, []), ['1 words']);
});

t.test('questions at the model at once are bounded', async (t) => {
  const { asked, waiting } = LIMITS.embedding;
  let [now, most] = [0, 0];
  const slow = async () => {
    most = Math.max(most, (now += 1));
    await new Promise((resolve) => setTimeout(resolve, 20));
    now -= 1;
    return vector;
  };
  const search = searchByMeaning({
    words,
    vectors: { embedded: () => Promise.resolve(EMBEDDED) },
    embedder: { model: 'm', embed: slow },
    nearest: () => Promise.resolve([passage(2)]),
    clock: systemClock,
  });
  const all = Array.from({ length: asked + 2 * waiting }, () => search.search('ws', SOURCES, 'When?', 5));
  const counts = (await Promise.all(all)).map(({ length }) => length);
  t.ok(most <= asked, `${most}`);
  t.ok(counts.includes(1) && counts.includes(2), 'those that found no place are answered by words');
});
