/** Fields of a body are counted before it is parsed, whoever sends it. */
import t from '../../../../fixtures/tap.js';
import { boundFields } from '../../../../../gateway/server/bodies/structure.js';
import { throwsExactly } from '../../../../fixtures/exactly.js';

t.test('fields are counted before they are parsed', (t) => {
  for (const [text, fields] of [
    ['', 1],
    ['a=1', 1],
    ['a&a&a', 3],
    ['&&', 3],
  ] as const) {
    t.doesNotThrow(() => boundFields(text, fields), text);
    throwsExactly(t, () => boundFields(text, fields - 1), { code: 'invalid_request' }, text);
  }
  t.end();
});
