/** Paths of sockets. */
import t from '../../../fixtures/tap.js';
import { checkSocketPath } from '../../../../processes/channel/socket-path.js';

t.test('a socket path that the system would cut is refused', (t) => {
  t.throws(() => checkSocketPath(`/tmp/${'x'.repeat(110)}.sock`), /choose a shorter folder/);
  t.doesNotThrow(() => checkSocketPath('/tmp/short.sock'));
  t.end();
});
