/** What a call costs at a machine (contracts/admission/call-cost.ts). */
import t from '../../../fixtures/tap.js';
import { CallCost, firstCost } from '../../../../contracts/admission/call-cost.js';

const SECOND = 1000;

/** A machine with so many calls for so long, each of which takes such a share of it. */
function lasting(cost: CallCost, seconds: number, calls: number, each: number, beside = 0): CallCost {
  for (let second = 0; second < seconds; second += 1)
    cost.measured(Math.min(1, beside + calls * each), calls, SECOND);
  return cost;
}

/** Whether it is that, give or take a tenth. */
const about = (value: number, wanted: number): boolean => Math.abs(value - wanted) <= wanted / 10;

t.test('before a call was measured it costs what nine on a core cost', async (t) => {
  t.ok(about(new CallCost(firstCost(4)).callCost, 1 / 36));
  t.ok(about(firstCost(0.5), 1 / 9), 'a part of a core counts as one');
});

t.test('the cost of a call is what calls have taken; a few seconds of one say little', async (t) => {
  const cost = new CallCost(0.03);
  t.ok(about(lasting(cost, 3, 1, 0.1).callCost, 0.03));
  t.ok(about(lasting(cost, 300, 20, 0.01).callCost, 0.0133), 'twenty weigh more than the first guess');
  t.ok(about(lasting(cost, 300, 20, 0.04).callCost, 0.0383), 'a model that costs more is learnt');
});

t.test('without calls nothing is learnt of their cost, and nothing forgotten', async (t) => {
  const cost = lasting(new CallCost(0.03), 300, 20, 0.01);
  const before = cost.callCost;
  t.equal(lasting(cost, 3600, 0, 0, 0.9).callCost, before);
});

t.test('the load is the use of the last seconds; calls that have just begun count at once', async (t) => {
  const cost = lasting(new CallCost(0.03), 300, 20, 0.02);
  t.ok(about(cost.load(20).load, 0.43));
  t.ok(about(cost.load(40).load, 0.87), 'as their work is still to come');
  t.ok(about(lasting(cost, 30, 0, 0, 0.7).load(0).load, 0.7), 'other work is load, too');
});
