/** The interface description is made once, whoever asks. */
import t from '../../../../fixtures/tap.js';
import { interfaceBytes } from '../../../../../gateway/server/openapi/openapi.js';

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
