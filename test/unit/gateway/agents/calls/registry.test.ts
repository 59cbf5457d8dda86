/**
 * The calls that a process owns, without media: the registry, and, in embedded mode, the token of a client that does not
 * come (gateway/agents/calls).
 */
import t from '../../../../fixtures/tap.js';
import { Deadline } from '../../../../../contracts/time/deadline.js';
import type { RoomOpening } from '../../../../../contracts/ports/calls/calls.js';
import { LivekitCalls } from '../../../../../gateway/agents/calls/livekit.js';
import { CallRegistry } from '../../../../../gateway/agents/calls/registry.js';
import { FirstConnection } from '../../../../../gateway/agents/calls/first-connection.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { Embedded, Process, session, tick } from '../../../../fixtures/calls/owned-calls.js';

const NONE = {
  answer: () => Promise.resolve(undefined),
  transfer: () => ({ modes: [], begin: () => Promise.resolve('none') }),
};

const loadOf = (calls: number) => ({ load: calls / 10, callCost: 0.1 });

t.test('an embedded call begins once, and is found until it ends', async (t) => {
  const process = new Embedded();
  t.notOk(process.calls.owns('s'));
  t.equal(process.connect(), undefined, 'nothing to connect to');
  process.calls.begin(session('s'));
  process.calls.begin(session('s'));
  t.equal(process.opened.length, 1);
  t.ok(process.calls.owns('s'));
  t.ok(process.connect());
  t.equal(await process.token?.(), `rejoin until ${60_000 + 600_000 + 20_000}`);
  process.ended('s');
  t.notOk(process.calls.owns('s'), 'at once');
  t.equal(process.connect(), undefined);
  await process.pass(300);
  t.strictSame(process.told, ['end as ended_by_api s']);
});

t.test('a token whose client opens no signalling for 10 s can be used again', async (t) => {
  const process = new Embedded();
  process.calls.begin(session('s'));
  await process.pass(9999);
  t.ok(process.calls.owns('s'));
  await process.pass(1);
  t.notOk(process.calls.owns('s'));
  t.strictSame(process.told, ['release s']);
  await process.pass(60_000);
  t.strictSame(process.told, ['release s'], 'its session is not ended');
  process.calls.begin(session('s'));
  t.ok(process.calls.owns('s'), 'it can be joined again');
});

t.test('a client that leaves before its media is up can use its token again 1 s later', async (t) => {
  const process = new Embedded();
  process.calls.begin(session('s'));
  const [first, second] = [process.connect(), process.connect()];
  await process.pass(20_000);
  first?.closed();
  await process.pass(5000);
  t.strictSame(process.told, [], 'it has another connection');
  second?.closed();
  await process.pass(999);
  t.strictSame(process.told, []);
  await process.pass(1);
  t.strictSame(process.told, ['release s']);
});

t.test('a client that joins meanwhile waits until the token can be used again', async (t) => {
  const process = new Embedded();
  let done = (): void => undefined;
  process.released = new Promise((resolve) => (done = resolve));
  process.calls.begin(session('s'));
  process.connect()?.closed();
  let settled = false;
  void process.calls.settled('s').then(() => (settled = true));
  await process.pass(1000);
  t.strictSame(process.told, ['release s']);
  t.notOk(settled);
  done();
  await process.pass(0);
  t.ok(settled);
  await t.resolves(process.calls.settled('s'), 'nobody waits for nothing');
});

t.test('a client that was connected keeps its call without a connection', async (t) => {
  const process = new Embedded();
  process.calls.begin(session('s'));
  const end = process.connect();
  end?.closed();
  process.opened[0]?.events.push({ kind: 'connected' });
  await process.pass(15_000);
  t.ok(process.calls.owns('s'));
  t.strictSame(process.told, ['activate s']);
});

t.test('the duration of a call is counted from its first connection', async (t) => {
  const process = new Embedded();
  process.calls.begin(session('s'));
  process.connect();
  await process.pass(3000);
  process.opened[0]?.events.push({ kind: 'connected' });
  await process.pass(7000);
  process.opened[0]?.events.push({ kind: 'left' });
  await process.pass(300);
  t.strictSame(process.told, ['activate s', 'use conversation_ms 7000', 'count hangup', 'end as hangup s']);
});

const ENDING = ['activate s', 'use conversation_ms 0', 'count hangup', 'end as hangup s'];

/** A call whose user hangs up while the database is away. */
async function hungUpInVain(): Promise<Embedded> {
  const process = new Embedded();
  process.away = true;
  process.calls.begin(session('s'));
  process.connect();
  process.opened[0]?.events.push({ kind: 'connected' });
  process.opened[0]?.events.push({ kind: 'left' });
  await process.pass(300);
  return process;
}

t.test('an end that the database does not take is offered again every 2 s', async (t) => {
  const process = await hungUpInVain();
  t.strictSame(process.told, ENDING);
  await process.pass(1699);
  t.strictSame(process.told, ENDING);
  process.away = false;
  await process.pass(1);
  t.strictSame(process.told, [...ENDING, 'end as hangup s']);
  await process.pass(10_000);
  t.equal(process.told.length, 5, 'once');
  t.equal(process.calls.size, 0);
});

t.test('an end that the database does not take is given up after ten minutes', async (t) => {
  const process = await hungUpInVain();
  for (let second = 0; second < 598; second += 2) await process.pass(2000);
  t.equal(process.calls.size, 1);
  await process.pass(2000);
  t.equal(process.calls.size, 0);
});

t.test('an end that the database does not take holds up no process that stops', async (t) => {
  const process = await hungUpInVain();
  void process.calls.stop(Promise.resolve());
  await process.pass(2000);
  t.equal(process.calls.size, 0);
});

t.test(
  'embedded: a call whose media worker dies is continued by the node that its client reaches',
  async (t) => {
    const process = new Embedded();
    process.calls.begin(session('s'));
    process.connect();
    process.opened[0]?.events.push({ kind: 'connected' });
    await process.pass(10_000);
    process.opened[0]?.die();
    await process.pass(300);
    t.strictSame(
      process.told,
      ['activate s', 'count transport_lost', 'release s'],
      'its session has not ended',
    );
    process.calls.begin(session('s'));
    t.equal(process.opened.length, 2, 'here as well');
  },
);

t.test('a call whose media worker dies within 10 s fails, as it may be what killed it', async (t) => {
  const process = new Embedded();
  process.calls.begin(session('s'));
  process.connect();
  await process.pass(0);
  process.opened[0]?.events.push({ kind: 'connected' });
  await process.pass(9999);
  process.opened[0]?.die();
  await process.pass(300);
  t.strictSame(process.told, [
    'activate s',
    'use conversation_ms 9999',
    'count transport_lost',
    'end as transport_lost s',
  ]);
});

t.test(
  'embedded: a process that stops ends what is left, and waits for tokens on their way back',
  async (t) => {
    const process = new Embedded();
    process.calls.begin(session('s'));
    process.connect();
    process.calls.begin(session('gone'));
    let done = (): void => undefined;
    process.released = new Promise((resolve) => (done = resolve));
    await process.pass(10_000);
    let stopped = false;
    void process.calls.stop(new Deadline(process.clock, 5000).passed).then(() => (stopped = true));
    await process.pass(4999);
    t.strictSame(process.told, ['release gone']);
    await process.pass(1);
    await process.pass(300);
    t.strictSame(process.told, ['release gone', 'end as error s']);
    t.notOk(stopped);
    done();
    await process.pass(0);
    t.ok(stopped);
    t.notOk(process.listening);
  },
);

t.test(
  'livekit: jobs are taken as there is room; a public session waits in a quarter of the places; the arrival spends the token',
  async (t) => {
    const process = new Process();
    const source = (id: string): 'public' | 'api_key' => (id === 'k' ? 'api_key' : 'public');
    const calls = new LivekitCalls({
      ...process.parts,
      runs: {
        ...process.parts.runs,
        unowned: (id) => Promise.resolve(session(id, source(id))),
        lost: () => Promise.resolve([]),
      },
      ...{ places: 8, nodeId: 'here', nodes: { list: () => Promise.resolve([]) }, telephones: NONE, loadOf },
      calls: {
        openRoomCall: () => process.open(),
        removeRoom: () => Promise.resolve(),
        dispatchAgent: () => Promise.resolve(),
      },
    });
    /** Whether the job of that session is accepted. */
    const takes = async (id: string): Promise<boolean> => {
      const job = { id, room: id, metadata: JSON.stringify({ agent: 'Bakery', source: source(id) }) };
      if (!calls.offered(job)) return false;
      void calls.assigned(job, { url: 'ws://cluster', token: id });
      await process.pass(0);
      return true;
    };
    t.strictSame(
      [await takes('a'), await takes('b'), await takes('c'), await takes('k')],
      [true, true, false, true],
    );
    t.strictSame(
      process.told.filter((told) => told.startsWith('lease')),
      ['lease a', 'lease b', 'lease k'],
    );
    process.told.length = 0;
    t.equal(calls.offered({ id: 'x', room: 'x', metadata: 'no JSON' }), undefined);
    process.opened[0]?.events.push({ kind: 'connected' });
    await process.pass(0);
    t.strictSame(process.told, ['join a', 'activate a']);
    t.ok(await takes('c'));
    t.strictSame(calls.figures(), { calls: 4, places: 8, draining: false, load: 0.4, callCost: 0.1 });
    const stopping = calls.stop(new Deadline(process.clock, 10_000).passed);
    exactly(t, [calls.figures(), await takes('k')], [{ draining: true }, false], 'no more jobs');
    await process.pass(300);
    const ended = process.told.filter((told) => told.startsWith('end')).sort();
    t.strictSame(
      ended,
      ['end as error b', 'end as error c', 'end as error k'],
      'who has not come is not waited for',
    );
    await process.pass(10_000);
    await process.pass(300);
    await stopping;
    t.equal(process.told.at(-1), 'end as error a');
  },
);

const OTHER = {
  ...{ id: 'there', installation: 'there', url: 'http://there', version: '1', ageMs: 0, alive: true },
  ...{ calls: 0, places: 8, draining: false, load: 0, callCost: 0.1 },
  ...{ startedAt: new Date(0), seenAt: new Date(0) },
};

t.test('a LiveKit call whose user has not come is left to another process by one that stops', async (t) => {
  const process = new Process();
  const stays = new Map<string, RoomOpening['stays']>();
  const calls = new LivekitCalls({
    ...process.parts,
    runs: {
      ...process.parts.runs,
      unowned: (id) => Promise.resolve(session(id)),
      lost: () => Promise.resolve([]),
    },
    ...{
      places: 8,
      nodeId: 'here',
      nodes: { list: () => Promise.resolve([OTHER]) },
      telephones: NONE,
      loadOf,
    },
    calls: {
      openRoomCall({ sessionId }, _joinBy, how) {
        stays.set(sessionId, how?.stays);
        return process.open();
      },
      removeRoom: () => Promise.resolve(),
      async dispatchAgent(id, metadata) {
        process.told.push(`dispatch ${id} ${metadata}`);
      },
    },
  });
  for (const id of ['comes', 'waits']) {
    const job = { id, room: id, metadata: JSON.stringify({ agent: 'Bakery', source: 'api_key' }) };
    t.ok(calls.offered(job));
    void calls.assigned(job, { url: 'ws://cluster', token: id });
    await process.pass(0);
  }
  process.opened[0]?.events.push({ kind: 'connected' });
  await process.pass(0);
  process.told.length = 0;
  const stopping = calls.stop(new Deadline(process.clock, 10_000).passed);
  await process.pass(300);
  const metadata = JSON.stringify({ agent: 'Ann', source: 'api_key' });
  t.strictSame(process.told, ['release waits', `dispatch waits ${metadata}`]);
  t.equal(stays.get('waits')?.(false), true, 'its room is not removed');
  await process.pass(9700);
  await process.pass(300);
  await stopping;
  t.equal(process.told.at(-1), 'end as error comes', 'who has come is served to the end');
});

t.test('a LiveKit call whose process has died continues here, in the same room', async (t) => {
  const process = new Process();
  let stays: RoomOpening['stays'];
  let lost = ['l', 'taken'];
  const calls = new LivekitCalls({
    ...process.parts,
    runs: {
      ...process.parts.runs,
      lost: () => Promise.resolve(lost),
      takeOver: (id) => Promise.resolve(id === 'l' ? session(id) : { refused: 'ended' }),
    },
    ...{ places: 8, nodeId: 'here', nodes: { list: () => Promise.resolve([]) }, telephones: NONE, loadOf },
    calls: {
      openRoomCall(_options, _joinBy, how) {
        stays = how?.stays;
        return process.open();
      },
      removeRoom: () => Promise.resolve(),
      dispatchAgent: () => Promise.resolve(),
    },
  });
  await process.pass(0);
  t.equal(process.opened.length, 1, 'what another one has got first is its');
  lost = [];
  await process.pass(1000);
  t.equal(calls.size, 1);
  process.opened[0]?.events.push({ kind: 'connected' });
  await process.pass(9999);
  t.strictSame([stays?.(true), stays?.(false)], [false, false], 'it may be what killed its worker');
  await process.pass(1);
  t.strictSame([stays?.(true), stays?.(false)], [true, false]);
  process.told.length = 0;
  process.opened[0]?.die();
  await process.pass(300);
  t.strictSame(process.told, ['count transport_lost', 'release l'], 'whoever looks next goes on with it');
  await calls.stop(Promise.resolve());
});

t.test('a call that begins when the process has ended its calls is ended as well', async (t) => {
  const registry = new CallRegistry(new Process().parts);
  const causes: string[] = [];
  const made = (id: string) => {
    let finish = (): void => undefined;
    const over = new Promise<void>((resolve) => (finish = resolve));
    const closedBy = (cause: string): void => {
      causes.push(`${id} ${cause}`);
      finish();
    };
    return { id, over, closedBy };
  };
  registry.add(made('early'));
  const stopping = registry.stop(Promise.resolve());
  await tick();
  registry.add(made('late'));
  await stopping;
  await tick();
  t.strictSame(causes, ['early shutdown', 'late shutdown']);
  t.strictSame(registry.all, []);
});

t.test('a call that has ended makes room, and ends no other', async (t) => {
  const process = new Process();
  const registry = new CallRegistry(process.parts);
  const made = () => {
    let finish = (): void => undefined;
    const over = new Promise<void>((resolve) => (finish = resolve));
    return { id: 's', over, finish, closedBy: () => finish() };
  };
  const [first, second] = [made(), made()];
  registry.add(first);
  registry.remove(first);
  registry.add(second);
  registry.remove(first);
  first.finish();
  await tick();
  t.equal(registry.find('s'), second);
  process.ended('other');
  t.strictSame(registry.all, [second]);
  process.ended('s');
  await tick();
  t.equal(registry.find('s'), undefined);
});

t.test(
  'a call outlives its media 10 s after its user was first connected, however often they came back',
  (t) => {
    let now = 0;
    const connection = new FirstConnection({ monotonic: () => now });
    t.notOk(connection.isSettled, 'nobody was connected');
    connection.connected();
    now = 9999;
    t.notOk(connection.isSettled, 'it may be what killed its media worker');
    now = 10_000;
    t.ok(connection.isSettled);
    connection.connected();
    t.ok(connection.isSettled, 'a user who has just come back after the failure of a server, for one');
    t.end();
  },
);
