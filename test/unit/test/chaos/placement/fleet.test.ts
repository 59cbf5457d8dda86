/** A hundred nodes under calls, simulated on the code that places them (test/chaos/placement); `npm run chaos -- placement` has ten thousand. */
import t from '../../../../fixtures/tap.js';
import { loadOn } from '../../../../chaos/placement/database.js';
import { type Fault, Fleet, type FleetPlan } from '../../../../chaos/placement/fleet.js';
import { broken, meanOf } from '../../../../chaos/placement/judge.js';

const fleetOf = (placed: FleetPlan['placed'], faults: readonly Fault[] = [], calls = 1500): Fleet =>
  new Fleet({ seed: 7, nodes: 100, calls, meanCallSeconds: 180, inUse: 0.6, placed, faults }).run();

t.test('uneven machines are evenly loaded, which the balancer alone does not achieve', async (t) => {
  const [placed, balanced] = [fleetOf('by room'), fleetOf('balancer')];
  t.strictSame(broken(placed), []);
  t.ok(
    meanOf(balanced, 'p99') > 1.5 * meanOf(placed, 'p99'),
    `${meanOf(balanced, 'p99')}, ${meanOf(placed, 'p99')}`,
  );
});

t.test('nodes that are added have their share within a minute', async (t) => {
  const fleet = fleetOf('by room', [
    { at: 10, kind: 'add', count: 1 },
    { at: 20, kind: 'add', count: 10 },
  ]);
  t.strictSame(broken(fleet), []);
  t.equal(fleet.added.length, 2);
});

t.test(
  'no call begins at a node that drains, has died or lost its network, and none is refused',
  async (t) => {
    const fleet = fleetOf('by room', [
      { at: 10, kind: 'kill', count: 5 },
      { at: 25, kind: 'drain', count: 5 },
      { at: 40, kind: 'unplug', count: 5, seconds: 20 },
    ]);
    t.strictSame(broken(fleet), []);
    const { returned, askedDraining, askedDead } = fleet.counts;
    t.ok(returned > 100, 'calls of lost nodes go on');
    t.ok(askedDraining + askedDead < 50, 'few calls are offered to them, while what is known is old');
  },
);

t.test('the same seed gives the same calls', async (t) => {
  t.strictSame(fleetOf('by room', [], 300).counts, fleetOf('by room', [], 300).counts);
});

t.test(
  'only what nodes read of one another grows with their square, all else with their number',
  async (t) => {
    const [few, many] = [100, 1000].map((nodes) => loadOn({ nodes, calls: 27 * nodes, rate: nodes / 7 }));
    for (const [at, { what, reads }] of few!.slice(0, -1).entries()) {
      const growth = many![at]!.reads / Math.max(1, reads);
      t.ok(growth < (what === 'what other nodes tell' ? 101 : 11), `${what}: ${growth}`);
    }
  },
);
