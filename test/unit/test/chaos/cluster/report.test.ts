/** What a disturbance of a cluster came to, from what its clients recorded (test/chaos/cluster/report.ts). */
import t from '../../../../fixtures/tap.js';
import {
  brokenIn,
  figuresOf,
  lineOf,
  quantile,
  servedIn,
  type Span,
  sumOf,
} from '../../../../chaos/cluster/report.js';
import type { CallRecord } from '../../../../chaos/record.js';

const SPAN: Span = {
  ...{ name: 'drain of a node', planned: true, from: 100_000, ready: 140_000, to: 160_000 },
  served: { 'kept-alive': 400 },
};
const CALL: CallRecord = {
  ...{ session: 's', from: 90_000, to: 120_000, answers: 5, gap: 6200 },
  ...{ returns: [], silent: false, hungUp: true, reason: 'hangup' },
};
const returned = (back: number | null) => ({ at: 101_000, why: 'gone' as const, refusals: [503], back });

t.test('calls, failures and times are those of the span', async (t) => {
  const calls = [
    CALL,
    { ...CALL, from: 10_000, to: 20_000, gap: 90_000 },
    { ...CALL, returns: [{ ...returned(106_400), heard: 107_300 }] },
    { ...CALL, reason: 'transport_lost' },
    { ...CALL, to: 170_000, returns: [returned(null)], hungUp: false, reason: 'error' },
    { ...CALL, to: 90_000, hungUp: false, reason: null },
    { ...CALL, to: 90_000, returns: [returned(null)], hungUp: false, reason: null },
  ];
  const failures = [
    { at: 99_000, what: 'kept-alive', told: 503 },
    { at: 101_000, what: 'kept-alive', told: 503 },
    { at: 103_000, what: 'request sessions/sess_1', told: 'ECONNRESET' },
    { at: 104_000, what: 'POST agents', told: 503 },
    { at: 160_000, what: 'POST agents', told: 503 },
  ];
  const figures = figuresOf(SPAN, { calls, failures, refusedTokens: [99_999, 100_000, 159_999] });
  t.strictSame(figures, {
    ...{ calls: 6, lost: 2, returns: 3, slowestReturn: 5.4, longestGap: 6.2, heard: [6.3], refused: 2 },
    failures: {
      'kept-alive': { 503: 1 },
      'making agents': { 503: 1 },
      'reading a session': { ECONNRESET: 1 },
    },
    ...{ podsWell: 40, clientsWell: 4 },
  });
  t.match(
    lineOf(SPAN, figures),
    /^drain of a node: 2 of 6 calls lost, 3 returns \(slowest 5.4 s\); heard again 1 times, p95 6.3 s, at most 6.3 s; /,
  );
});

t.test(
  'the same disturbance several times is one: counts are added, and the worst time is told',
  async (t) => {
    const one = figuresOf(SPAN, {
      calls: [CALL],
      refusedTokens: [101_000],
      failures: [{ at: 101_000, what: 'kept-alive', told: 503 }],
    });
    const other = {
      ...{
        ...one,
        calls: 5,
        lost: 1,
        returns: 2,
        slowestReturn: 3,
        longestGap: 9,
        heard: [0.5, 4],
        refused: 2,
      },
      ...{
        failures: { 'kept-alive': { 503: 2, 1006: 1 }, joining: { 503: 1 } },
        podsWell: 70,
        clientsWell: 0.5,
      },
    };
    t.strictSame(sumOf([other, { ...one, heard: [1] }]), {
      ...{ calls: 6, lost: 1, returns: 2, slowestReturn: 3, longestGap: 9, heard: [0.5, 1, 4], refused: 3 },
      failures: { 'kept-alive': { 503: 3, 1006: 1 }, joining: { 503: 1 } },
      ...{ podsWell: 70, clientsWell: 1 },
    });
    t.strictSame(servedIn([SPAN, { ...SPAN, served: { 'kept-alive': 2, 'five tries': 1 } }]), {
      'kept-alive': 402,
      'five tries': 1,
    });
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    t.equal(quantile(hundred, 0.95), 95);
    t.equal(quantile([7], 0.95), 7);
    t.equal(quantile([], 0.95), 0);
  },
);

t.test('what an operator plans may lose no call, and refuse nobody who keeps a connection', async (t) => {
  const bad = figuresOf(SPAN, {
    ...{ calls: [{ ...CALL, hungUp: false, reason: 'error' as const }], refusedTokens: [] },
    failures: [{ at: 110_000, what: 'kept-alive', told: 503 }],
  });
  t.strictSame(brokenIn(SPAN, bad, 'kept-alive'), [
    '1 calls were lost',
    'kept-alive clients were told {"503":1}',
  ]);
  t.strictSame(brokenIn({ ...SPAN, planned: false }, bad, 'kept-alive'), []);
  const broken = 'a pod was restarted';
  t.strictSame(brokenIn({ ...SPAN, planned: false, broken }, bad, 'kept-alive'), [broken]);
});
