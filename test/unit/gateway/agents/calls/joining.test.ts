/** Where a client is led: to a call whose owner does not answer, and to the node where its call begins (gateway/agents/calls/joining.ts). */
import t from '../../../../fixtures/tap.js';
import { CALL_TIMES } from '../../../../../contracts/limits/call-times.js';
import { silentLog } from '../../../../../contracts/log.js';
import { join, type JoiningParts } from '../../../../../gateway/agents/calls/joining.js';
import type { RelayRequest } from '../../../../../gateway/agents/calls/node-relay.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { rejectsExactly } from '../../../../fixtures/exactly.js';

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
  await rejectsExactly(t, joined, { code: 'overloaded' });
  t.ok(searches > 5);
  t.strictSame(lines, ['the owner of a call could not be reached']);
});

/** A gateway to which clients come: another node takes their calls, if one is better. */
function gateway(better: boolean) {
  const asked: string[] = [];
  const ask = (what: string) => {
    asked.push(what);
  };
  const there = () => undefined;
  const parts = {
    nodeId: 'here',
    runs: {
      owner: async () => ask('owner'),
      async join() {
        ask('join');
        return { refused: 'expired' };
      },
    },
    calls: { owns: () => false, settled: async () => undefined, stopping: false, hasRoom: true },
    held: { holds: true },
    relay: {
      async toBetter() {
        ask('better');
        return better ? there : undefined;
      },
      async toRoom() {
        ask('room');
        return there;
      },
    },
    clock: new SimulatedClock(),
    log: silentLog,
  };
  const joined = (use: 'join' | 'rejoin', calls: object = {}) =>
    join(
      { sessionId: 'sess_1', use } as RelayRequest,
      { ...parts, calls: { ...parts.calls, ...calls } } as unknown as JoiningParts,
    ).catch(() => 'refused');
  return { asked, joined, there };
}

t.test('a call that goes to a better node costs no statement here', async (t) => {
  const { asked, joined, there } = gateway(true);
  t.equal(await joined('join'), there);
  t.strictSame(asked, ['better']);
});

t.test('where no node is better, a call begins here with what it asked before', async (t) => {
  const { asked, joined } = gateway(false);
  t.equal(await joined('join'), 'refused');
  t.strictSame(asked, ['better', 'join']);
});

t.test('a client that comes back is not sent to a better node', async (t) => {
  const { asked, joined } = gateway(true);
  t.equal(await joined('rejoin'), 'refused');
  t.strictSame(asked, ['owner', 'join']);
});

t.test('a node that drains or is full looks for any with room', async (t) => {
  for (const calls of [{ stopping: true }, { hasRoom: false }]) {
    const { asked, joined, there } = gateway(true);
    t.equal(await joined('join', calls), there);
    t.strictSame(asked, ['room']);
  }
});

/** A gateway at which a first token is used a second time. `hasCall`: whether the process that the call went to is there. */
function spent(hasCall: boolean, diesAfter: number) {
  const owner = { nodeId: 'there', installation: 'i', address: '', url: 'http://192.0.2.1', alive: true };
  const clock = new SimulatedClock();
  const began: object[] = [];
  let tries = 0;
  const session = { record: { id: 'sess_1' }, plan: {} };
  const parts = {
    nodeId: 'here',
    runs: {
      join: async () => ({ refused: 'used' }),
      takeOver: async () => ((tries += 1) > diesAfter ? session : { owner }),
    },
    calls: {
      ...{ owns: () => false, settled: async () => undefined, stopping: false, hasRoom: true },
      begin: (each: object) => began.push(each),
      connect: () => undefined,
    },
    held: { holds: true },
    relay: { toBetter: async () => undefined, hasCall: async () => hasCall },
    agents: { version: async () => undefined },
    clock,
    log: silentLog,
  } as unknown as JoiningParts;
  const joined = join({ sessionId: 'sess_1', use: 'join' } as RelayRequest, parts);
  joined.catch(() => undefined);
  return { clock, joined, began, tries: () => tries };
}

t.test('a first token whose process has died waits for the lease, and is let in', async (t) => {
  const { clock, joined, began } = spent(false, 3);
  for (let ms = 0; began.length === 0 && ms <= 2 * CALL_TIMES.takeoverMs; ms += 100) {
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await joined;
  t.equal(began.length, 1);
});

t.test('a first token whose call is somewhere is refused at once', async (t) => {
  const { joined, began, tries } = spent(true, 3);
  await rejectsExactly(t, joined, { code: 'invalid_key', message: 'The token was used already' });
  t.strictSame([began.length, tries()], [0, 1]);
});
