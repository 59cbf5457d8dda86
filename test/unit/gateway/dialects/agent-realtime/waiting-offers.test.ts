/** Offers that were answered and never came: bounded for a workspace, and for all. */
import { throwsExactly } from '../../../../fixtures/exactly.js';
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { WaitingOffers } from '../../../../../gateway/dialects/agent-realtime/waiting-offers.js';

const { perWorkspace, total } = LIMITS.agentRealtime.waitingOffers;

const entered = (offers: WaitingOffers, workspaceId: string, count: number): (() => void)[] =>
  Array.from({ length: count }, () => offers.enter(workspaceId));

t.test('a workspace has so many, and another one its own; a wait ends once', async (t) => {
  const offers = new WaitingOffers();
  const [first] = entered(offers, 'a', perWorkspace);
  throwsExactly(t, () => offers.enter('a'), { code: 'concurrency_exceeded' });
  offers.enter('b');
  first?.();
  first?.();
  offers.enter('a');
  throwsExactly(t, () => offers.enter('a'), { code: 'concurrency_exceeded' });
});

t.test('so many in all', async (t) => {
  const offers = new WaitingOffers();
  const waits = Array.from({ length: total / perWorkspace }, (_, at) =>
    entered(offers, String(at), perWorkspace),
  );
  throwsExactly(t, () => offers.enter('late'), { code: 'overloaded' });
  for (const leave of waits.flat()) leave();
  entered(offers, 'late', perWorkspace);
});
