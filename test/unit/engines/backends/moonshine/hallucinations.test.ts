/** Words that a recogniser invents. */
import t from '../../../../fixtures/tap.js';
import { plausible, withoutLoops } from '../../../../../engines/backends/moonshine/hallucinations.js';

t.test('invented words of a recogniser are cut', async (t) => {
  t.equal(withoutLoops('I know. I know. I know. I know. I know.'), 'I know.');
  t.equal(withoutLoops('so no no no no no no no no'), 'so no');
  t.equal(withoutLoops('no, no, no, stop'), 'no, no, no, stop');
  t.equal(plausible('Hello there.', 1), 'Hello there.');
  t.equal(plausible('a very long sentence that nobody could have said in so short a time', 0.3), '');
  t.equal(plausible(' ... ', 1), '');
});
