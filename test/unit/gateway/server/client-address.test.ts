/** The address and the origin of a client, also behind proxies. */
import t from '../../../fixtures/tap.js';
import { Origins } from '../../../../gateway/server/client-address.js';

void t.test('client addresses', async (t) => {
  const headers = (xff?: string, extra: Record<string, string> = {}): Map<string, string> =>
    new Map(
      Object.entries({ host: 'own:1', ...(xff === undefined ? {} : { 'x-forwarded-for': xff }), ...extra }),
    );
  const trusting = new Origins(['10.0.0.0/8', '127.0.0.1', 'fd00::/8'], undefined, false);
  const cases: readonly [string, string | undefined, string][] = [
    ['203.0.113.7', '1.2.3.4', '203.0.113.7'],
    ['10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['10.0.0.1', '6.6.6.6, 1.2.3.4, 10.9.9.9', '1.2.3.4'],
    ['10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
    ['10.0.0.1', 'nonsense, 10.0.0.3', '10.0.0.3'],
    ['10.0.0.1', '1.2.3.4:5678', '1.2.3.4'],
    ['10.0.0.1', '6.6.6.6:1, [2001:db8::1]:443, 10.0.0.2:80', '2001:db8::1'],
    ['10.0.0.1', '[2001:db8::2]', '2001:db8::2'],
    ['10.0.0.1', '1.2.3.4:x', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['0000:0000:0000:0000:0000:ffff:7f00:0001', '2001:db8::1', '2001:db8::1'],
    ['fd00::1', '1.2.3.4', '1.2.3.4'],
    ['::ffff:203.0.113.7', undefined, '203.0.113.7'],
  ];
  for (const [peer, xff, expected] of cases) {
    t.equal(trusting.clientAddress(peer, headers(xff)), expected, `${peer} with ${xff}`);
  }
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example' };
  t.equal(trusting.baseUrl('10.0.0.1', headers('', forwarded)), 'https://public.example');
  t.equal(
    trusting.baseUrl('9.9.9.9', headers('', forwarded)),
    'http://own:1',
    'an untrusted peer is not believed',
  );
  t.equal(trusting.baseUrl('10.0.0.1', headers('', { 'x-forwarded-host': 'a/b' })), 'http://own:1');
  const fixed = new Origins(['10.0.0.0/8'], 'https://fixed.example', false);
  t.equal(fixed.baseUrl('10.0.0.1', headers('', forwarded)), 'https://fixed.example', 'PUBLIC_URL wins');
  t.throws(() => new Origins(['10.0.0.0/99'], undefined, false), /10\.0\.0\.0\/99/);
});
