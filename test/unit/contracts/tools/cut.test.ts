/** Results that are longer than is taken end with a mark, within the bound. */
import t from '../../../fixtures/tap.js';
import { CUT_MARK, cutResult, cutResultBytes } from '../../../../contracts/tools/cut.js';

t.test('by characters', (t) => {
  t.equal(cutResult('x'.repeat(100), 100), 'x'.repeat(100));
  const cut = cutResult('x'.repeat(101), 100);
  t.equal(cut, `${'x'.repeat(100 - CUT_MARK.length)}${CUT_MARK}`);
  t.equal(cut.length, 100);
  t.match(CUT_MARK, /cut/);
  t.equal(cutResult('ab', 100, true), `ab${CUT_MARK}`, 'what was cut before');
  const pair = cutResult('\u{1f600}'.repeat(60), 100 + (CUT_MARK.length % 2 === 0 ? 1 : 0));
  t.notMatch(pair, /[\ud800-\udbff](?![\udc00-\udfff])/, 'no half of a pair');
  t.end();
});

t.test('by bytes', (t) => {
  t.equal(cutResultBytes('ä'.repeat(50), 100), 'ä'.repeat(50));
  const cut = cutResultBytes('ä'.repeat(51), 100);
  t.ok(cut.endsWith(CUT_MARK));
  t.ok(Buffer.byteLength(cut) <= 100);
  t.notMatch(cut, '\ufffd');
  t.end();
});
