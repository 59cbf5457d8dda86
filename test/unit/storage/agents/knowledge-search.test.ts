/** Which words of a question choose the passages that are ranked (storage/agents/knowledge-search.ts). */
import t from '../../../fixtures/tap.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { type Matched, selective, weighed } from '../../../../storage/agents/knowledge-search.js';

const { candidates } = LIMITS.knowledge;
const words = (...frequencies: number[]) =>
  frequencies.map((frequency, index) => ({ lexeme: `word${index}`, frequency, weight: 1 }));

t.test('all words of a question select passages while these can be ranked', async (t) => {
  const rare = words(0, 0, 0.1, 0.4);
  t.equal(selective(rare, candidates), rare);
  t.equal(selective(rare, 0), rare, 'no statistics');
});

t.test('of more passages only the rarest words select, at least one of them', async (t) => {
  t.strictSame(selective(words(0, 0.01, 0.1, 0.4), candidates * 8), words(0, 0.01, 0.1));
  t.strictSame(selective(words(0.9, 0.95), candidates * 8), words(0.9));
});

const matched = (position: number, places: number[], length = 10): Matched => ({
  ...{ sourceId: 'ks_1', revision: 1 },
  ...{ position, places, length },
});
const order = (...of: Parameters<typeof weighed>): number[] => weighed(...of).map(({ position }) => position);

t.test(
  'a rare word counts more than a common one, and one of an earlier turn less than one of this',
  async (t) => {
    const common = [matched(1, [1]), matched(2, [1]), matched(3, [2])];
    t.strictSame(order(words(0, 0), common, 100), [3, 1, 2]);
    const [now, before] = words(0, 0);
    const aged = [now!, { ...before!, weight: 0.5 }];
    t.strictSame(order(aged, [matched(1, [2]), matched(2, [1])], 100), [2, 1]);
    t.strictSame(
      order(words(0.9, 0), [matched(1, [1]), matched(2, [2])], 100_000),
      [2, 1],
      'by the statistics',
    );
  },
);

t.test('of passages with the same words the shorter one comes first', async (t) => {
  t.strictSame(order(words(0), [matched(1, [1], 90), matched(2, [1], 10)], 100), [2, 1]);
});
