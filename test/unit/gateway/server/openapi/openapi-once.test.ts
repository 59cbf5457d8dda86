/** The interface description is made once, whoever asks, and compressed for the addresses that clients ask by. */
import { gunzipSync } from 'node:zlib';
import t from '../../../../fixtures/tap.js';
import { InterfaceBytes } from '../../../../../gateway/server/openapi/openapi-bytes.js';

const description = (made: () => void = () => undefined) =>
  new InterfaceBytes((baseUrl) => {
    made();
    return { servers: [{ url: baseUrl }], paths: { '/a': 'é' } };
  });
const shown = (url: string) => ({ servers: [{ url }], paths: { '/a': 'é' } });

t.test('the interface description is made once, whoever asks from wherever', (t) => {
  let made = 0;
  const bytes = description(() => (made += 1));
  for (const url of ['https://a.example', 'http://b.example:80', 'https://"quoted".example'])
    t.strictSame(JSON.parse(bytes.of(url).toString()), shown(url));
  t.equal(made, 1);
  t.end();
});

t.test('an address that is asked by again gets it compressed, made once', async (t) => {
  const bytes = description();
  const url = 'https://a.example';
  t.equal(bytes.packed(url), undefined);
  const packed = bytes.packed(url);
  t.strictSame(JSON.parse(gunzipSync((await packed)!).toString()), shown(url));
  t.equal(bytes.packed(url), packed);
  t.equal(bytes.of(url), bytes.of(url), 'whole, it is made once as well');
});

t.test('whoever names one address after the other has it compressed a bounded number of times', (t) => {
  const bytes = description();
  let packed = 0;
  for (let at = 0; at < 100; at += 1) {
    const url = `https://${at}.example`;
    void bytes.packed(url);
    if (bytes.packed(url)) packed += 1;
  }
  t.equal(packed, 16);
  t.end();
});
