/** Headers for pages of other origins. */
import t from '../../../fixtures/tap.js';
import { corsHeaders, preflightHeaders } from '../../../../gateway/server/cors.js';

void t.test('cross-origin headers', async (t) => {
  t.strictSame(corsHeaders(new Map()), []);
  t.equal(Object.fromEntries(corsHeaders(new Map([['origin', 'x']])))['Access-Control-Allow-Origin'], '*');
  const asked = (value: string) =>
    preflightHeaders(new Map([['access-control-request-headers', value]]))['Access-Control-Allow-Headers'];
  t.equal(asked('content-type, x-some-sdk'), 'content-type, x-some-sdk');
  t.equal(asked('a\nb'), '*, Authorization');
  t.equal(asked('x'.repeat(5000)), '*, Authorization');
});
