/** Offers that were answered and never came: bounded for a workspace, and for all. */
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { WaitingOffers } from '../../../../../gateway/dialects/agent-realtime/waiting-offers.js';

const { perWorkspace, total } = LIMITS.agentRealtime.waitingOffers;

const entered = (offers: WaitingOffers, workspaceId: string, count: number): (() => void)[] =>
  Array.from({ length: count }, () => offers.enter(workspaceId));

t.test('a workspace has so many, and another one its own', async (t) => {
  const offers = new WaitingOffers();
  const [first] = entered(offers, 'a', perWorkspace);
  t.throws(() => offers.enter('a'), { code: 'concurrency_exceeded' });
  offers.enter('b');
  first?.();
  first?.();
  offers.enter('a');
  t.throws(() => offers.enter('a'), { code: 'concurrency_exceeded' }, 'a wait ends once');
});

t.test('so many in all', async (t) => {
  const offers = new WaitingOffers();
  const waits = Array.from({ length: total / perWorkspace }, (_, at) =>
    entered(offers, String(at), perWorkspace),
  );
  t.throws(() => offers.enter('late'), { code: 'overloaded' });
  for (const leave of waits.flat()) leave();
  entered(offers, 'late', perWorkspace);
});
