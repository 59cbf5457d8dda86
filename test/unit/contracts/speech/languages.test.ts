/** Languages of tags, and their scripts. */
import t from '../../../fixtures/tap.js';
import { isLanguage, languageOfTag, scriptsOf } from '../../../../contracts/speech/languages.js';

t.test('languages of tags, and the scripts that they are written in', async (t) => {
  const tags: [string, string | undefined][] = [
    ['eng', 'en'], ['en-GB', 'en'], ['en_GB', 'en'], ['zh-Hant-TW', 'zh'], ['zh_Hant_TW', 'zh'], ['und', undefined], ['auto', undefined],
    ['AUTO', undefined], ['ru', 'ru'],
  ]; // oxfmt-ignore
  for (const [tag, language] of tags) t.equal(languageOfTag(tag), language, tag);
  for (const tag of ['', 'e', 'not a tag']) t.throws(() => languageOfTag(tag), RangeError, tag);
  t.strictSame(scriptsOf('ja'), ['Hiragana', 'Katakana', 'Han']);
  t.strictSame(scriptsOf('xx'), []);
  t.ok(isLanguage('de'));
  t.notOk(isLanguage('ru'));
});
