/** A client that comes back to its call while the call's owner does not answer. */
import t from 'tap';
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import { silentLog } from '../../contracts/log.js';
import { join, type JoiningParts } from '../../gateway/calls/joining.js';
import type { RelayRequest } from '../../gateway/calls/node-relay.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';

t.test('a client that waits for an owner that does not answer costs one line of the log', async (t) => {
  const clock = new SimulatedClock();
  const owner = { nodeId: 'dead', installation: null, address: '', url: 'http://192.0.2.1', alive: true };
  const lines: string[] = [];
  let searches = 0;
  const parts = {
    nodeId: 'here',
    runs: { owner: async () => owner },
    calls: { owns: () => false, settled: async () => undefined },
    relay: {
      async toOwner() {
        searches += 1;
        throw new Error('connect ECONNREFUSED');
      },
    },
    clock,
    log: { ...silentLog, warn: (_fields: object, message: string) => lines.push(message) },
  } as unknown as JoiningParts;
  const request = { sessionId: 'sess_1', use: 'rejoin' } as RelayRequest;
  let over = false;
  const joined = join(request, parts).finally(() => (over = true));
  joined.catch(() => undefined);
  for (let ms = 0; !over && ms <= 2 * CALL_TIMES.takeoverMs; ms += 100) {
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await t.rejects(joined, { code: 'overloaded' });
  t.ok(searches > 5);
  t.strictSame(lines, ['the owner of a call could not be reached']);
});
