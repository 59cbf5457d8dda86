/** Collecting bodies and files in one piece: small ones, large ones, and their limit. */
import t from '../../../../fixtures/tap.js';
import { UNBOUNDED_SHARE } from '../../../../../contracts/ports/accounts/memory.js';
import { Ledger } from '../../../../../gateway/server/memory/ledger.js';
import { ArrivingBytes, mostBytesOf } from '../../../../../gateway/server/bodies/arriving-bytes.js';
import { throwsExactly } from '../../../../fixtures/exactly.js';

const MIB = 1024 * 1024;

function whole(chunks: readonly Uint8Array[], mostBytes: number): Uint8Array {
  const arriving = new ArrivingBytes(mostBytes, UNBOUNDED_SHARE);
  for (const chunk of chunks) arriving.add(chunk);
  return arriving.whole();
}

t.test('input of any size comes out unchanged', (t) => {
  const only = Buffer.from('only');
  const copy = whole([only], 100);
  t.same(copy, only);
  t.not(copy.buffer, only.buffer, 'a chunk is lent, and so it is copied');
  t.equal(whole([], 100).length, 0);
  t.same(Buffer.from(whole([only, Buffer.from(' two')], 100)).toString(), 'only two');
  const chunks = Array.from({ length: 50 }, (_, index) => Buffer.alloc(100_000, `${index},`));
  for (const mostBytes of [5_000_000, 9 * MIB])
    t.ok(Buffer.concat(chunks).equals(whole(chunks, mostBytes)), `room for ${mostBytes}`);
  t.ok(
    whole([Buffer.alloc(3 * MIB, 1)], 3 * MIB).every((byte) => byte === 1),
    'one large chunk',
  );
  t.end();
});

t.test('room is made for what a body declares, and never beyond its limit', (t) => {
  const declared = (length?: string): number =>
    mostBytesOf(new Map(length === undefined ? [] : [['content-length', length]]), 1000);
  t.equal(declared('10'), 10);
  t.equal(declared('0'), 0);
  t.equal(declared('5000'), 1000);
  t.equal(declared(), 1000, 'in chunks');
  t.throws(() => whole([Buffer.alloc(2 * MIB), Buffer.alloc(1)], 2 * MIB), RangeError);
  t.end();
});

t.test('what has arrived is charged, many small chunks as one piece, and given back', (t) => {
  const ledger = new Ledger(MIB);
  const share = ledger.openShare({ kind: 'body', holder: 'a', evict: () => undefined });
  const arriving = new ArrivingBytes(MIB, share);
  for (let count = 0; count < 10_000; count += 1) arriving.add(Buffer.alloc(10));
  t.ok(ledger.bytes >= 100_000 && ledger.bytes < 200_000, `${ledger.bytes} for 100,000`);
  throwsExactly(t, () => arriving.add(Buffer.alloc(MIB)), { code: 'memory_exhausted' });
  arriving.clear();
  t.equal(ledger.bytes, 0);
  t.end();
});
