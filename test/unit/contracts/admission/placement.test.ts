/** Where a call begins (contracts/admission/placement.ts). */
import t from '../../../fixtures/tap.js';
import { type Candidate, Picture, Placement, roomOf } from '../../../../contracts/admission/placement.js';
import type { NodeRecord } from '../../../../contracts/ports/calls/nodes.js';
import { seeded } from '../../../fixtures/random.js';
import { SimulatedClock } from '../../../fixtures/clock.js';

const node = (id: string, own: Partial<NodeRecord> = {}): NodeRecord => ({
  ...{ id, installation: id, url: `http://${id}:8080`, places: null, calls: 0, draining: false },
  ...{ load: 0, callCost: 0.02, version: '', startedAt: new Date(0), seenAt: new Date(0) },
  ...{ ageMs: 500, alive: true },
  ...own,
});

/** A gateway `here` that knows these nodes and itself; `told` replaces what it knows. */
function gateway(...others: NodeRecord[]) {
  const clock = new SimulatedClock();
  let known: readonly NodeRecord[] = [node('here'), ...others];
  const random = seeded(1);
  const placement = new Placement({ known: () => known, installation: 'here', clock, random });
  const told = (...nodes: NodeRecord[]): void => void (known = [node('here'), ...nodes]);
  return { placement, clock, told };
}

/** Where most of many calls go from a node of that load. */
function mostly({ placement }: ReturnType<typeof gateway>, load: number): string {
  const counts = new Map<string, number>();
  for (let call = 0; call < 500; call += 1) {
    const id = placement.better({ load, callCost: 0.02 })?.id ?? 'here';
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts].sort(([, one], [, other]) => other - one)[0]![0];
}

const idsOf = (nodes: readonly Candidate[]): string[] => nodes.map(({ id }) => id);

t.test('a node that is alone keeps its calls, however loaded it is', async (t) => {
  const { placement } = gateway();
  t.equal(placement.better({ load: 5, callCost: 1 }), undefined);
  t.strictSame(placement.withRoom(3), []);
});

t.test(
  'a call goes to a node that is much less loaded, and stays where the difference is small',
  async (t) => {
    t.equal(mostly(gateway(node('b', { load: 0.2 })), 0.5), 'b');
    t.equal(mostly(gateway(node('b', { load: 0.45 })), 0.5), 'here');
    t.equal(mostly(gateway(node('b', { load: 0.8 })), 0.5), 'here');
  },
);

t.test(
  'what a call costs there counts: a small machine with the same load is fuller with one more',
  async (t) => {
    const small = node('small', { load: 0.3, callCost: 0.25 });
    t.equal(mostly(gateway(small), 0.5), 'here');
    t.equal(mostly(gateway({ ...small, callCost: 0.01 }), 0.5), 'small');
  },
);

t.test(
  'nobody is given a call who drains, is full, silent, starts, or has not been heard for four seconds',
  async (t) => {
    const unable: Partial<NodeRecord>[] = [
      { draining: true },
      { places: 7, calls: 7 },
      { alive: false },
      { url: null },
      { installation: null },
      { ageMs: 4001 },
    ];
    for (const own of unable) {
      const { placement } = gateway(node('b', own));
      t.equal(placement.better({ load: 0.9, callCost: 0.02 }), undefined, JSON.stringify(own));
      t.strictSame(placement.withRoom(3), [], JSON.stringify(own));
    }
  },
);

t.test(
  'the other processes of a machine are not better, but may have the room that this one lacks elsewhere',
  async (t) => {
    const { placement } = gateway(
      node('worker', { installation: 'here', url: 'http://here:8080' }),
      node('beside', { url: 'http://here:9090' }),
    );
    t.equal(placement.better({ load: 0.9, callCost: 0.02 }), undefined);
    t.strictSame(idsOf(placement.withRoom(3)), ['beside']);
  },
);

t.test('a node is drawn as often as it has room, each process of a machine for its part', async (t) => {
  const picture = new Picture([
    node('empty'),
    node('half', { load: 0.5 }),
    node('one', { installation: 'two-processes' }),
    node('two', { installation: 'two-processes' }),
    node('full', { load: 1.2 }),
  ]);
  const counts = new Map<string, number>();
  for (let at = 0; at < 7000; at += 1) {
    const { id } = picture.draw(at / 7000)!;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const share = (id: string): number => Math.round(((counts.get(id) ?? 0) / 7000) * 100) / 100;
  t.strictSame(['empty', 'half', 'one', 'two', 'full'].map(share), [0.4, 0.2, 0.2, 0.2, 0]);
  t.ok(new Picture([node('full', { load: 1.2 })]).draw(0.5), 'but is, where all are as full');
  t.equal(new Picture([]).draw(0.5), undefined);
});

t.test('room is what the machine has by the cost of a call, within its places', async (t) => {
  const figures = { ...node('b'), load: 0.5, callCost: 0.05 };
  t.equal(roomOf(figures), 10);
  t.equal(roomOf({ ...figures, places: 12, calls: 8 }), 4);
  t.equal(roomOf({ ...figures, load: 1.5 }), 0);
});

t.test('a burst is spread: calls that went to a node count before it tells of them', async (t) => {
  const { placement, told } = gateway(node('b', { load: 0.3 }), node('c', { load: 0.3 }));
  const sent = { b: 0, c: 0, here: 0 };
  for (let call = 0; call < 30; call += 1) {
    const best = placement.better({ load: 0.6, callCost: 0.02 });
    if (best) placement.sent(best);
    sent[(best?.id ?? 'here') as keyof typeof sent] += 1;
  }
  t.ok(sent.here > 0 && sent.b > 5 && sent.c > 5, JSON.stringify(sent));
  t.ok(sent.b <= 12 && sent.c <= 12, JSON.stringify(sent));
  told(node('b', { load: 0.3 }), node('c', { load: 0.3 }));
  t.ok(placement.better({ load: 0.6, callCost: 0.02 }), 'what they told since counts');
});

t.test(
  'a node that refused is left out until it has told anew; one that was not reached for ten seconds',
  async (t) => {
    const b = node('b', { load: 0.1 });
    const { placement, clock, told } = gateway(b);
    placement.withRoom(1);
    placement.refused(b as Candidate);
    t.strictSame(placement.withRoom(1), []);
    told(b);
    t.strictSame(idsOf(placement.withRoom(1)), ['b']);
    placement.unreachable(b as Candidate);
    told(b);
    t.strictSame(placement.withRoom(1), []);
    clock.advance(10_000);
    t.strictSame(idsOf(placement.withRoom(1)), ['b']);
  },
);

t.test(
  'for a call that cannot begin here all of a few nodes are asked, the least loaded first',
  async (t) => {
    const nodes = [0.9, 0.2, 1.4, 0.5].map((load) => node(`n${load}`, { load }));
    t.strictSame(idsOf(gateway(...nodes).placement.withRoom(3)), ['n0.2', 'n0.5', 'n0.9']);
  },
);

t.test('thousands of gateways with the same report do not take the same node', async (t) => {
  const nodes = Array.from({ length: 200 }, (_, at) => node(`n${at}`, { load: at === 0 ? 0 : 0.5 }));
  const known = [...nodes, node('here')];
  const counts = new Map<string, number>();
  for (let at = 0; at < 2000; at += 1) {
    const clock = new SimulatedClock();
    const parts = { known: () => known, installation: 'here', clock, random: seeded(at) };
    const best = new Placement(parts).better({ load: 0.7, callCost: 0.02 });
    if (best) counts.set(best.id, (counts.get(best.id) ?? 0) + 1);
  }
  t.ok((counts.get('n0') ?? 0) < 2000 / 20, 'the emptiest gets more than others, but few of all');
  t.ok(counts.size > 150);
});

t.test('a gateway that has not seen itself in what is told keeps its calls', async (t) => {
  const known = [node('b'), node('here', { url: null })];
  const parts = { known: () => known, installation: 'here', clock: new SimulatedClock() };
  t.equal(new Placement(parts).better({ load: 0.9, callCost: 0.02 }), undefined);
});
