/** A byte order mark before a text. */
import t from '../../../fixtures/tap.js';
import { withoutByteOrderMark } from '../../../../contracts/text/byte-order-mark.js';

t.test('a byte order mark before a text is no part of it, one within is', async (t) => {
  t.equal(withoutByteOrderMark('\ufeff{\ufeff}'), '{\ufeff}');
  t.equal(withoutByteOrderMark('{}'), '{}');
});
