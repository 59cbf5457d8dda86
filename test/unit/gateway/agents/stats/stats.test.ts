/** Figures of calls over time, from groups of ended calls (gateway/agents/stats/stats.ts). */
import t from '../../../../fixtures/tap.js';
import type { CallGroup } from '../../../../../contracts/sessions/call-figures.js';
import { latencyCounts } from '../../../../../contracts/sessions/latency-counts.js';
import { reportOf } from '../../../../../gateway/agents/stats/stats.js';
import { exactly } from '../../../../fixtures/exactly.js';

const DAYS = ['2026-11-27', '2026-11-28', '2026-11-29'].map((day) => new Date(day));
const span = { from: DAYS[0]!, to: new Date('2026-11-30'), step: 'day' } as const;

const group = (more: Partial<CallGroup>): CallGroup => ({
  ...{
    at: DAYS[0]!,
    reason: 'hangup',
    connected: true,
    currency: '',
    calls: 1,
    answers: 0,
    failedAnswers: 0,
  },
  ...{ tools: 0, failedTools: 0, wordsUser: 0, wordsAgent: 0, callMs: 0, cost: 0, latencies: [] },
  ...more,
});

t.test('each step has its own calls, also one without any, and the total has all', async (t) => {
  const groups = [
    group({ calls: 3, callMs: 60_000, latencies: latencyCounts([100, 100, 100]) }),
    group({ at: DAYS[2]!, calls: 1, callMs: 30_000, latencies: latencyCounts([4000]) }),
  ];
  const { total, points } = reportOf(groups, span);
  t.strictSame(
    points.map(({ at }) => at),
    DAYS,
  );
  t.strictSame(
    points.map(({ calls }) => calls),
    [3, 0, 1],
  );
  t.strictSame(points[1]?.p50Ms, null);
  t.equal(total.calls, 4);
  t.equal(total.callMs, 90_000);
  t.ok((total.p50Ms ?? 0) < 110 && (total.p90Ms ?? 0) > 3800, 'quantiles of all, not of quantiles');
});

t.test('failures are told by their cause, the most frequent first', async (t) => {
  const groups = [
    group({ calls: 5 }),
    group({ reason: 'transferred', calls: 1 }),
    group({ reason: 'error', calls: 1 }),
    group({ reason: 'transport_lost', calls: 2 }),
  ];
  const { calls, completed, failures } = reportOf(groups, span).total;
  t.strictSame([calls, completed], [9, 6]);
  t.strictSame(failures, [
    { reason: 'transport_lost', calls: 2 },
    { reason: 'error', calls: 1 },
  ]);
});

t.test('a session that nobody joined is no call', async (t) => {
  const { total } = reportOf([group({ reason: 'not_joined', connected: false, calls: 4 })], span);
  exactly(t, total, { calls: 0, completed: 0, failures: [], notJoined: 4 });
});

t.test('costs are summed by currency; calls without prices have none', async (t) => {
  const groups = [
    group({ cost: 0.1, currency: 'EUR' }),
    group({ cost: 0.2, currency: 'EUR', reason: 'error' }),
    group({ cost: 5, currency: 'USD' }),
    group({}),
  ];
  t.strictSame(reportOf(groups, span).total.costs, [
    { currency: 'EUR', amount: 0.3 },
    { currency: 'USD', amount: 5 },
  ]);
  t.strictSame(reportOf([group({})], span).total.costs, []);
});
