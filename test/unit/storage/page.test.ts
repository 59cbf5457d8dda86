/** Pages of rows that carry their position (storage/page.ts). */
import t from '../../fixtures/tap.js';
import { listed, positionAfter, wantedRows } from '../../../storage/page.js';

const request = (size: number) => ({ size, offset: 0, total: false });
const rows = (...positions: number[]) => positions.map((position) => ({ position: String(position) }));
const show = ({ position }: { readonly position: string }): number => Number(position);

t.test('a page asks for one row more than it has', async (t) => {
  t.equal(wantedRows(request(30)), 31);
});

t.test('a page begins after the position that was given, or with the newest row', async (t) => {
  t.equal(positionAfter({ ...request(1), after: '17' }), '17');
  t.equal(BigInt(positionAfter(request(1))), 2n ** 63n - 1n, 'the largest position that Postgres has');
});

t.test('a page that more rows follow names its last one', async (t) => {
  t.strictSame(listed(rows(9, 7, 5), request(2), 40, show), { rows: [9, 7], next: '7', total: 40 });
  t.equal(listed(rows(9, 7), request(1), null, show).next, '9');
});

t.test('the last page names no row, whether or not it is full', async (t) => {
  t.strictSame(listed(rows(9, 7), request(2), null, show), { rows: [9, 7], next: null, total: null });
  t.strictSame(listed(rows(9), request(2), null, show), { rows: [9], next: null, total: null });
  t.strictSame(listed(rows(), request(2), 0, show), { rows: [], next: null, total: 0 });
});
