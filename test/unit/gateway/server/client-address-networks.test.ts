/** The network that counts as one client. */
import t from '../../../fixtures/tap.js';
import { networkOf } from '../../../../gateway/server/client-address.js';

t.test('one client is one address, or one /64', async (t) => {
  t.equal(networkOf('203.0.113.7'), '203.0.113.7');
  t.equal(networkOf('::ffff:203.0.113.7'), '203.0.113.7');
  t.equal(networkOf('2001:db8:0:1::7'), '2001:db8:0:1::/64');
  t.equal(networkOf('2001:db8:0:1:ffff:ffff:ffff:ffff'), '2001:db8:0:1::/64');
  t.equal(networkOf('/run/proxy.sock'), '/run/proxy.sock');
});
