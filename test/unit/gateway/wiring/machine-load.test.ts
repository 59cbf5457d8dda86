/** How the load of a machine is measured (gateway/wiring/machine-load.ts). */
import t from '../../../fixtures/tap.js';
import { coresIn, shareBetween, usedIn } from '../../../../gateway/wiring/machine-load.js';

t.test('the share of processors between two measurements is from none to all', async (t) => {
  t.equal(shareBetween({ used: 100, all: 1000 }, { used: 350, all: 2000 }), 0.25);
  t.equal(shareBetween({ used: 100, all: 1000 }, { used: 100, all: 1000 }), 0, 'no time has passed');
  t.equal(shareBetween({ used: 0, all: 1000 }, { used: 1100, all: 2000 }), 1, 'a group may borrow');
});

t.test('the limit of a control group is its quota over the period; "max" is none', async (t) => {
  t.equal(coresIn('250000 100000\n'), 2.5);
  t.equal(coresIn('max 100000\n'), undefined);
  t.equal(usedIn('usage_usec 1500000\nuser_usec 1\n'), 1500);
});
