/** Which words of a question choose the passages that are ranked (storage/agents/knowledge-search.ts). */
import t from '../../../fixtures/tap.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { selective } from '../../../../storage/agents/knowledge-search.js';

const { candidates } = LIMITS.knowledge;
const words = (...frequencies: number[]) =>
  frequencies.map((frequency, index) => ({ lexeme: `word${index}`, frequency }));

t.test('all words of a question select passages while these can be ranked', async (t) => {
  const rare = words(0, 0, 0.1, 0.4);
  t.equal(selective(rare, candidates), rare);
  t.equal(selective(rare, 0), rare, 'no statistics');
});

t.test('of more passages only the rarest words select, at least one of them', async (t) => {
  t.strictSame(selective(words(0, 0.01, 0.1, 0.4), candidates * 8), words(0, 0.01, 0.1));
  t.strictSame(selective(words(0.9, 0.95), candidates * 8), words(0.9));
});
