/** Work for clients whose key is not known yet: counted fields, and answers that are made once. */
import t from 'tap';
import { boundFields } from '../../gateway/server/bodies/structure.js';
import { interfaceBytes } from '../../gateway/server/openapi/openapi.js';

t.test('fields are counted before they are parsed', (t) => {
  for (const [text, fields] of [
    ['', 1],
    ['a=1', 1],
    ['a&a&a', 3],
    ['&&', 3],
  ] as const) {
    t.doesNotThrow(() => boundFields(text, fields), text);
    t.throws(() => boundFields(text, fields - 1), { code: 'invalid_request' }, text);
  }
  t.end();
});

t.test('the interface description is made once, whoever asks from wherever', (t) => {
  let made = 0;
  const bytes = interfaceBytes((baseUrl) => {
    made += 1;
    return { servers: [{ url: baseUrl }], paths: { '/a': 'é' } };
  });
  for (const url of ['https://a.example', 'http://b.example:80', 'https://"quoted".example'])
    t.strictSame(JSON.parse(Buffer.from(bytes(url)).toString()), {
      servers: [{ url }],
      paths: { '/a': 'é' },
    });
  t.equal(made, 1);
  t.end();
});
