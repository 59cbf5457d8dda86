/** Search patterns of users: matches, refused patterns, and bounds of their cost (contracts/text/safe-pattern.ts). */
import t from '../../../fixtures/tap.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { PatternError, safePattern } from '../../../../contracts/text/safe-pattern.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

const { agentTest: limits } = LIMITS;

/** Whether the pattern matches in the text, and the number of times that the search pauses. */
function searched(pattern: string, text: string): { isFound: boolean; pauses: number } {
  const search = safePattern(pattern)(text);
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = search.next();
    if (done) return { isFound: value, pauses };
  }
}

const isFound = (pattern: string, text: string): boolean => searched(pattern, text).isFound;

t.test('patterns find what regular expressions find', async (t) => {
  const found: readonly (readonly [string, string])[] = [
    ['shipped', 'It was SHIPPED today.'],
    ['^it .* today\\.$', 'It was shipped today.'],
    ['(ship|deliver)(ped|ed)?', 'delivered'],
    ['\\d{2,3}', 'number 123'],
    ['[a-f]+\\b', 'cafe noir'],
    ['a?b*c+', 'xxc'],
    ['\\p{Lu}{2}', 'ab'],
    ['(?:na){3}', 'bananana'],
    ['(a*)*b', 'b'],
    ['ä|ö', 'SCHÖN'],
    ['', 'anything'],
    ['SHIP', 'shipped'],
    ['x$', 'abx'],
    ['\\Bship', 'worship'],
    ['^(?:ab|c|d)e$', 'abe'],
    ['^(?:ab|c|d)e$', 'ce'],
    ['^(?:ab|c|d)e$', 'de'],
    ['^(|a)b$', 'b'],
    ['^a{2}$', 'aa'],
    ['^a{2,}$', 'aaaa'],
    ['^a{2,3}$', 'aaa'],
    ['^a{0}b{0,1}$', ''],
    ['a{100}', 'a'.repeat(100)],
    ['^a+?b??c{2}?$', 'aacc'],
    ['^[\\]x]+y$', ']xy'],
    ['^\\u{1f642}.$', '🙂🙂'],
    ['^.\\.$', '\n.'],
    ['\\bé', 'x é'],
    ['1_\\b', '1_ '],
    ['^a?b$', 'ab'],
    ['^a[bc]d\\.\\p{Lu}$', 'acd.x'],
    ['ΛΌΓΟΣ', 'λόγος'],
    ['λόγος', 'λόγοσ'],
    ['straße', 'STRAẞE'],
    ['a]}-', 'A]}-'],
    ['^a{002}$', 'aa'],
    ['^(?:){3}(a{0}|)b$', 'b'],
  ];
  for (const [pattern, text] of found) t.ok(isFound(pattern, text), `${pattern} in ${text}`);
  const absent: readonly (readonly [string, string])[] = [
    ['^shipped', 'It was shipped'],
    ['\\bship\\b', 'shipped'],
    ['\\d{4}', 'number 123'],
    ['[^a-z ]', 'only letters'],
    ['(ship|deliver)ment', 'shipped'],
    ['x$', 'xa'],
    ['\\Bship', 'ship'],
    ['^(?:ab|c)d$', 'abcd'],
    ['^a{2}$', 'a'],
    ['^a{2}$', 'aaa'],
    ['^a{2,3}$', 'aaaa'],
    ['^a?$', 'aa'],
    ['a+?b', 'b'],
    ['\\.', 'x'],
    ['^.$', 'ab'],
    ['\\bé', 'xé'],
    ['\\B_', '_'],
  ];
  for (const [pattern, text] of absent) t.notOk(isFound(pattern, text), `${pattern} in ${text}`);
});

t.test('patterns that make no sense, look around, refer back or grow too long are refused', async (t) => {
  const misplaced = [['[a', '['], ['*a', '*'], ['+', '+'], ['?a', '?'], ['{', '{'], ['a**', '*'], ['a{,2}', '{'], ['\\', '\\']] as const; // oxfmt-ignore
  const cases: readonly (readonly [pattern: string, message: string])[] = [
    ...misplaced.map(([pattern, mark]) => [pattern, `${mark} stands where it means nothing`] as const),
    ['(a', 'a bracket is not closed'],
    ['a)', 'a bracket is closed that was not opened'],
    ['(?=a)', '(? is not supported'],
    ['(?<=a)', '(? is not supported'],
    ['(a)\\1', 'backreferences are not supported'],
    ['\\k<a>', 'backreferences are not supported'],
    ...['a{2,1}', 'a{101}', 'a{0,101}', 'a{101,}', 'a{1000}', 'a{1,1000}'].map((pattern) => [pattern, 'a count is at most 100'] as const),
    ...['[b-a]', '\\p{Nothing}'].map((pattern) => [pattern, `${pattern} is no class of characters`] as const),
    ['((a{50}){50}){50}', 'it is too long'],
    ['a'.repeat(limits.patternSteps), 'it is too long'],
  ]; // oxfmt-ignore
  for (const [pattern, message] of cases)
    throwsExactly(t, () => safePattern(pattern), new PatternError(message), pattern.slice(0, 20));
  t.equal(new PatternError('m').name, 'PatternError');
  t.doesNotThrow(() => safePattern('a'.repeat(limits.patternSteps - 1)));
});

t.test('repetitions of nothing within one another count as steps', async (t) => {
  // One after the other, they are 100^20 repetitions.
  for (const nothing of ['()', 'a{0}', '(|)'])
    throwsExactly(t, () => safePattern(`${'('.repeat(20)}${nothing}${'){100}'.repeat(20)}`), new PatternError('it is too long'), nothing);
}); // oxfmt-ignore

t.test('a pattern costs its steps times the text, whatever it is', async (t) => {
  // Backtracking would take 2^4000 steps for it.
  t.notOk(isFound('^(a+)+$', `${'a'.repeat(limits.patternText - 1)}!`));
});

t.test('a search pauses after every 32 characters, so that other work can run', async (t) => {
  for (const [length, pauses] of [[30, 0], [31, 1], [62, 1], [63, 2]] as const)
    t.equal(searched('b', 'a'.repeat(length)).pauses, pauses, `${length}`); // oxfmt-ignore
});
