/** Texts in characters, bytes and code units: none is cut within a character. */
import t from '../../../fixtures/tap.js';
import { firstBytes, firstUnits, isLonger, wellFormed } from '../../../../contracts/text/text.js';

t.test('a text is as long as its characters, of which a surrogate pair is one', async (t) => {
  const longer: [string, number][] = [['abcd', 3], ['🙂🙂🙂🙂', 3], ['🙂🙂ab', 3], ['a', 0]]; // oxfmt-ignore
  for (const [text, most] of longer) t.ok(isLonger(text, most), text);
  for (const text of ['', 'abc', '🙂🙂🙂', '🙂ab']) t.notOk(isLonger(text, 3), text);
});

t.test('the first bytes of a text hold no half characters', async (t) => {
  const cases: [string, number, string][] = [
    ['abc', 3, 'abc'], ['abc', 2, 'ab'], ['aé', 2, 'a'], ['aé', 3, 'aé'], ['日本', 5, '日'],
    ['日本', 6, '日本'], ['🙂', 3, ''], ['', 0, ''], ['\ufeffa', 4, '\ufeffa'],
  ]; // oxfmt-ignore
  for (const [text, most, first] of cases) t.equal(firstBytes(text, most), first, `${text} in ${most}`);
});

t.test('the first code units of a text hold no half of a pair that was whole', async (t) => {
  const cases: [string, number, string][] = [
    ['abc', 3, 'abc'], ['abc', 2, 'ab'], ['a🙂b', 2, 'a'], ['a🙂b', 3, 'a🙂'], ['🙂', 1, ''], ['🙂', 2, '🙂'], ['', 0, ''], ['a\ud83d', 2, 'a\ud83d'],
  ]; // oxfmt-ignore
  for (const [text, most, first] of cases) t.equal(firstUnits(text, most), first, `${text} in ${most}`);
});

t.test('half a surrogate pair becomes a character, a whole one stays', async (t) => {
  t.equal(wellFormed('a\ud800b\udc00🙂'), 'a\ufffdb\ufffd🙂');
});
