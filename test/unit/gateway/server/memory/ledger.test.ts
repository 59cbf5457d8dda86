/** The ledger of waiting memory: who is charged, who is refused, who is evicted. */
import t from '../../../../fixtures/tap.js';
import { PIECE_BYTES, type MemoryShare } from '../../../../../contracts/ports/accounts/memory.js';
import { Ledger } from '../../../../../gateway/server/memory/ledger.js';

interface Opened {
  readonly share: MemoryShare;
  readonly evicted: string[];
}

function opened(ledger: Ledger, holder: string, bytes = 0): Opened {
  const evicted: string[] = [];
  const share = ledger.openShare({ kind: 'body', holder, evict: (error) => evicted.push(error.message) });
  if (bytes > 0) share.charge(bytes);
  return { share, evicted };
}

await t.test('a piece counts 256 bytes at least, and is given back as it was charged', (t) => {
  const ledger = new Ledger(10_000);
  const { share } = opened(ledger, 'a');
  t.ok(share.charge(1));
  t.ok(share.charge(1000));
  t.equal(share.bytes, PIECE_BYTES + 1000);
  share.release(1);
  t.equal(ledger.bytesOf('body'), 1000);
  share.close();
  share.close();
  t.equal(ledger.bytes, 0);
  t.notOk(share.charge(1), 'a closed share takes nothing');
  t.end();
});

await t.test('beyond the budget the largest holder is refused', (t) => {
  const ledger = new Ledger(10_000);
  const { share, evicted } = opened(ledger, 'a', 6000);
  const other = opened(ledger, 'b', 3000);
  t.notOk(share.charge(2000));
  t.strictSame([share.bytes, evicted, other.evicted], [6000, [], []]);
  t.end();
});

await t.test('a smaller holder is served at the cost of the largest share of the largest holder', (t) => {
  const ledger = new Ledger(10_000);
  const [small, large] = [opened(ledger, 'a', 2000), opened(ledger, 'a', 6000)];
  const other = opened(ledger, 'b');
  t.ok(other.share.charge(4000));
  t.strictSame([small.evicted.length, large.evicted.length, other.evicted.length], [0, 1, 0]);
  t.strictSame([ledger.bytes, large.share.bytes], [6000, 0]);
  t.notOk(large.share.charge(1), 'what was evicted takes nothing more');
  t.end();
});

await t.test('the shares of one holder count together', (t) => {
  const ledger = new Ledger(10_000);
  for (let i = 0; i < 9; i += 1) opened(ledger, 'a', 1000);
  const other = opened(ledger, 'b', 900);
  t.ok(other.share.charge(900), 'nine small shares are the largest holder');
  t.notOk(opened(ledger, 'a').share.charge(1000));
  t.equal(other.evicted.length, 0);
  t.end();
});

await t.test('spare memory is freed before any holder is evicted', (t) => {
  const ledger = new Ledger(10_000);
  const gone: string[] = [];
  const spareOf = () =>
    ledger.openShare({ kind: 'frame', holder: 'landing', isSpare: true, evict: () => gone.push('spare') });
  const spare = spareOf();
  t.ok(spare.charge(3000));
  const large = opened(ledger, 'a', 6000);
  const small = opened(ledger, 'b');
  t.ok(small.share.charge(2000));
  t.strictSame([gone, large.evicted, ledger.bytes], [['spare'], [], 8000]);
  t.notOk(spareOf().charge(3000));
  t.strictSame([large.evicted, small.evicted, ledger.bytes], [[], [], 8000]);
  t.end();
});
