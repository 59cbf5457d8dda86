/** Whether a workspace may have another call at once (contracts/admission/call-places.ts). */
import t from '../../../fixtures/tap.js';
import { type CallFigures, mayCall, tooManyCalls } from '../../../../contracts/admission/call-places.js';
import { exactly } from '../../../fixtures/exactly.js';

const FREE: CallFigures = { own: 0, most: null, free: null, shared: true };

/** Calls that a workspace gets of `places`, of which others have `others`. */
function callsOf(places: number, others: number, figures: Partial<CallFigures> = {}): number {
  let own = 0;
  while (own < places && mayCall({ ...FREE, ...figures, own, free: places - others - own })) own += 1;
  return own;
}

t.test(
  'without a number, and without places that are counted, a workspace has any number of calls',
  async (t) => {
    t.ok(mayCall({ ...FREE, own: 1_000_000 }));
  },
);

t.test('a workspace with a number has at most as many', async (t) => {
  t.equal(callsOf(100, 0, { most: 3 }), 3);
  t.equal(callsOf(100, 0, { most: 0 }), 0, 'none at all');
  t.equal(mayCall({ ...FREE, own: 3, most: 3 }), false);
});

t.test('workspaces share places: two thirds for one, two fifths each for two, always a rest', async (t) => {
  t.equal(callsOf(30, 0), 20);
  t.equal(callsOf(30, 12), 12);
  for (let places = 3; places <= 60; places += 1) {
    const first = callsOf(places, 0);
    t.ok(first < places && callsOf(places, first) > 0, `of ${places} places the second workspace gets some`);
  }
  t.equal(callsOf(2, 0), 2, 'one and two places are given to whoever comes');
  t.equal(callsOf(30, 0, { most: 25 }), 20, 'a number is no right to more than the share');
});

t.test('the only workspace has all places', async (t) => {
  t.equal(callsOf(30, 0, { shared: false }), 30);
});

t.test('where no place is free, the workspace is not at fault', async (t) => {
  for (const free of [0, -3]) t.ok(mayCall({ ...FREE, own: 9, free }));
});

t.test('the refusal says when to come back', async (t) => {
  exactly(t, tooManyCalls(), { code: 'concurrency_exceeded', status: 429, retryAfter: 5 });
});
