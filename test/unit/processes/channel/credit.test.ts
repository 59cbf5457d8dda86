/** Credit: how much a sender may send before its reader has read. */
import t from '../../../fixtures/tap.js';
import { WINDOW_BYTES, InboundCredit } from '../../../../processes/channel/credit.js';
import { collect } from '../../../fixtures/processes/tools.js';

t.test('a reader gives credit back as it reads, and cuts off who sends without', async (t) => {
  const granted: number[] = [];
  const inbound = new InboundCredit({
    taken: (bytes) => granted.push(bytes),
    left: () => t.fail('nobody left'),
  });
  const half = WINDOW_BYTES / 2;
  inbound.push('a', half);
  inbound.push('b', half);
  t.throws(() => inbound.push('c', 1), /without credit/);
  t.same(granted, [], 'nothing is given back for unread values');
  t.equal((await inbound.next()).value, 'a');
  t.ok((granted[0] ?? 0) >= half);
  inbound.push('c', 1);
  inbound.end();
  t.same(await collect(inbound), ['b', 'c']);
});

t.test('queued values come before the error behind them, and a drop lets go of them', async (t) => {
  const events = { taken: () => undefined, left: () => undefined };
  const failed = new InboundCredit(events);
  failed.push(1, 1);
  failed.fail(new Error('late'));
  t.equal((await failed.next()).value, 1);
  await t.rejects(failed.next(), /late/);
  t.equal((await failed.next()).done, true, 'the error is told once');
  const dropped = new InboundCredit(events);
  dropped.push(1, 1);
  dropped.drop({ error: new Error('now') });
  await t.rejects(dropped.next(), /now/);
});

t.test('leaving releases a waiting reader, and notifies the sender once', async (t) => {
  let left = 0;
  const inbound = new InboundCredit({ taken: () => undefined, left: () => (left += 1) });
  const waiting = inbound.next();
  await inbound.return();
  await inbound.return();
  t.equal((await waiting).done, true);
  t.equal(left, 1);
});
