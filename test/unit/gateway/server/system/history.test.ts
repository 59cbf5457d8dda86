/** The last hour of a process, minute by minute, on a clock that the test turns. */
import t from '../../../../fixtures/tap.js';
import { History, LATENCY_BOUNDS, quantile, summed } from '../../../../../gateway/server/system/history.js';

const MINUTE = 60_000;
const START = 30_000_000 * MINUTE;

function started() {
  let now = START;
  const clock = { now: () => now };
  const ask = (status: number, firstByte: number | undefined, route = '/v1/tts') =>
    history.finished({ route, method: 'POST', status, firstByte });
  const history = new History(clock);
  return { history, ask, turnTo: (minute: number) => (now = START + minute * MINUTE), now: () => now };
}

t.test('an hour is kept, and no more', async (t) => {
  const { history, ask, turnTo, now } = started();
  for (let minute = 0; minute < 100; minute += 1) {
    turnTo(minute);
    for (let count = 0; count <= minute; count += 1) ask(200, 0.001);
  }
  t.equal(history.read().length, 60);
  const minutes = summed([history.read()], now());
  t.strictSame(
    minutes.map(({ replies }) => replies),
    Array.from({ length: 60 }, (_, index) => index + 41),
  );
  turnTo(200);
  t.strictSame(history.read(), []);
  t.equal(summed([history.read()], now()).length, 60, 'a quiet hour has its minutes all the same');
});

t.test('errors by kind; pages and upkeep are not counted', async (t) => {
  const { history, ask } = started();
  for (const status of [404, 404, 503, 200, 499]) ask(status, 0.1);
  for (const route of [
    '/',
    '/console',
    '/console/*',
    '/metrics',
    '/health/ready',
    '/v1/machine/history',
    '/nodes',
    '/docs',
    '/widget.js',
  ])
    ask(500, 0.1, route);
  ask(500, 0.1, '/documents');
  const [minute] = history.read();
  t.equal(minute?.replies, 6);
  t.strictSame(minute?.errors, {
    'POST /v1/tts 404': 2,
    'POST /v1/tts 503': 1,
    'POST /v1/tts 499': 1,
    'POST /documents 500': 1,
  });
  for (let route = 0; route < 1000; route += 1) ask(400, undefined, `/${route}x`);
  t.equal(Object.keys(history.read()[0]?.errors ?? {}).length, 200, 'in bounded room');
});

t.test('several processes are added up, and what is no minute of this hour is left out', async (t) => {
  const [one, other] = [started(), started()];
  one.turnTo(-70);
  one.ask(500, 1);
  const old = one.history.read();
  one.turnTo(0);
  one.ask(500, 1);
  one.history.turn(0.3);
  other.ask(500, 3);
  other.history.turn(0.3);
  const minutes = summed([old, one.history.read(), other.history.read()], START + 5 * MINUTE);
  t.equal(
    minutes.reduce((sum, { replies }) => sum + replies, 0),
    2,
  );
  const minute = minutes.at(-6);
  t.strictSame(minute?.errors, { 'POST /v1/tts 500': 2 });
  t.equal(
    minute?.firstByte.reduce((sum, each) => sum + each, 0),
    2,
  );
  t.equal(minute?.turn[LATENCY_BOUNDS.indexOf(0.4)], 2);
});

t.test('quantiles lie between the bounds of their bucket', async (t) => {
  const { history, ask } = started();
  t.equal(quantile([], 0.5), null);
  for (let count = 0; count < 90; count += 1) ask(200, 0.15);
  for (let count = 0; count < 10; count += 1) ask(200, 2);
  const buckets = history.read()[0]?.firstByte ?? [];
  t.ok(Math.abs((quantile(buckets, 0.45) ?? 0) - 0.15) < 0.001, 'half of what is between 0.1 and 0.2');
  t.equal(quantile(buckets, 1), 3.2);
  t.ok((quantile(buckets, 0.95) ?? 0) > 1.6);
  ask(200, 1000);
  t.equal(quantile(history.read()[0]?.firstByte ?? [], 1), 300, 'beyond all bounds it is the last of them');
});
