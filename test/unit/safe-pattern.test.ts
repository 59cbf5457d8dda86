/** Search patterns of users: matches, refused patterns, and bounds of their cost (contracts/safe-pattern.ts). */
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { PatternError, safePattern } from '../../contracts/safe-pattern.js';

const { agentTest: limits } = LIMITS;

/** Whether the pattern matches in the text. */
function isFound(pattern: string, text: string): boolean {
  const search = safePattern(pattern)(text);
  for (;;) {
    const { done, value } = search.next();
    if (done) return value;
  }
}

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
  ];
  for (const [pattern, text] of found) t.ok(isFound(pattern, text), `${pattern} in ${text}`);
  const absent: readonly (readonly [string, string])[] = [
    ['^shipped', 'It was shipped'],
    ['\\bship\\b', 'shipped'],
    ['\\d{4}', 'number 123'],
    ['[^a-z ]', 'only letters'],
    ['(ship|deliver)ment', 'shipped'],
  ];
  for (const [pattern, text] of absent) t.notOk(isFound(pattern, text), `${pattern} in ${text}`);
});

t.test('patterns that make no sense, look around, refer back or grow too long are refused', async (t) => {
  for (const pattern of ['(a', 'a)', '[a', '*a', '(?=a)', '(?<=a)', '(a)\\1', 'a{2,1}', 'a{101}', '\\'])
    t.throws(() => safePattern(pattern), PatternError, pattern);
  t.throws(() => safePattern('((a{50}){50}){50}'), PatternError, 'beyond its steps');
  t.doesNotThrow(() => safePattern('a'.repeat(limits.patternSteps - 1)));
  t.throws(() => safePattern('a'.repeat(limits.patternSteps)), PatternError);
});

t.test('a pattern costs its steps times the text, whatever it is', async (t) => {
  // Backtracking would take 2^4000 steps for it.
  t.notOk(isFound('^(a+)+$', `${'a'.repeat(limits.patternText - 1)}!`));
});
