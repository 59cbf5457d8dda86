/** The time limits of a call: their values in the contract, and their order. */
import t from '../../../fixtures/tap.js';
import { CALL_ORDER, CALL_TIMES } from '../../../../contracts/limits/call-times.js';

t.test('each time is what the contract says', async (t) => {
  t.strictSame(CALL_TIMES, {
    goodbyeMs: 300,
    correctionMs: 500,
    reportMs: 1000,
    heartbeatMs: 1000,
    roomLastWordsMs: 1000,
    leaveGraceMs: 1500,
    roomLeaveMs: 2000,
    relayMs: 2000,
    missedMs: 3000,
    farewellMs: 3000,
    silentMs: 4000,
    takeoverMs: 4000,
    leaseMs: 5000,
    releaseMs: 5000,
    pingIntervalMs: 5000,
    claimMs: 10_000,
    aloneSilentMs: 12_000,
    aloneLeaseMs: 15_000,
    pingTimeoutMs: 15_000,
    reconnectWindowMs: 15_000,
    roomJoinMs: 15_000,
    goneMs: 20_000,
    returnMs: 60_000,
    connectMs: 60_000,
    overtimeMs: 60_000,
    aloneAwayMs: 120_000,
    joinWindowMs: 120_000,
  });
});

t.test('the table is sorted, so that it reads as time passes', async (t) => {
  const times = Object.values(CALL_TIMES);
  t.strictSame(
    times,
    times.toSorted((a, b) => a - b),
  );
});

for (const { shorter, than, why } of CALL_ORDER)
  t.test(`${shorter.join(' + ')} < ${than}: ${why}`, async (t) => {
    const sum = shorter.reduce((ms, name) => ms + CALL_TIMES[name], 0);
    t.ok(sum < CALL_TIMES[than], `${sum} < ${CALL_TIMES[than]}`);
    t.not(why, '', 'it says why');
  });

t.test('each time of a call has its place in the order of times', async (t) => {
  const ordered = new Set(CALL_ORDER.flatMap(({ shorter, than }) => [...shorter, than]));
  t.strictSame(
    Object.keys(CALL_TIMES).filter((name) => !ordered.has(name as keyof typeof CALL_TIMES)),
    [],
  );
});
