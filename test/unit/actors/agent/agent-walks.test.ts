/**
 * Promises of the agent's machine (actors/agent/agent.ts) in any order of events: random walks, each with its own seed. The
 * long form has 100,000 walks.
 */
import t from '../../../fixtures/tap.js';
import { Walk } from '../../../fixtures/actors/agent-walk.js';
import { shortOrLong } from '../../../fixtures/long.js';

const WALKS = shortOrLong(200, 100_000);
/** Walks of the long form that broke, and are in the short one since. */
const BROKE = [780, 1106, 1111, 1151, 1520, 8234];
const SEEDS = [...Array.from({ length: WALKS }, (_, at) => at + 1), ...BROKE.filter((seed) => seed > WALKS)];
const STEPS = 60;
/** Most broken walks that a failure shows. */
const SHOWN = 3;

t.setTimeout(shortOrLong(240_000, 3_600_000));

t.test(
  'in any order of events: each final is in the record once, no turn is answered twice or not at all, ' +
    'the agent never starts over the user, and neither does anything with an effect',
  async (t) => {
    const broken: string[] = [];
    const seen: Record<string, number> = {};
    for (const seed of SEEDS) {
      if (broken.length >= SHOWN) break;
      const walk = new Walk(seed).run(STEPS);
      broken.push(...walk.broken.map((what) => `seed ${seed}: ${what}`));
      for (const [what, times] of Object.entries(walk.seen)) seen[what] = (seen[what] ?? 0) + times;
    }
    t.same(broken.slice(0, SHOWN), []);
    if (broken.length > 0) return;
    for (const [what, times] of Object.entries(seen))
      t.ok(times > WALKS / 100, `the walks went everywhere: ${what} ${times}`);
  },
);
