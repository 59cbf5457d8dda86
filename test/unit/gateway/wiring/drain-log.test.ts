/** What the log tells of readiness and of a drain: each change once, and what is waited for. */
import { setImmediate } from 'node:timers/promises';
import t from '../../../fixtures/tap.js';
import { silentLog } from '../../../../contracts/log.js';
import { Health } from '../../../../gateway/server/system/health.js';
import { GatewayDrain } from '../../../../gateway/wiring/drain.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { exactly } from '../../../fixtures/exactly.js';

interface Line {
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly fields: object;
}

function recorded() {
  const lines: Line[] = [];
  const note =
    (level: Line['level']) =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields });
  return { lines, log: { ...silentLog, info: note('info'), error: note('error') } };
}

t.test('readiness: one line when something fails, one when all is well again', async (t) => {
  const { lines, log } = recorded();
  const clock = new SimulatedClock();
  const health = new Health(['database', 'tts'], clock, log);
  health.set('database', true);
  health.set('tts', true);
  t.strictSame(lines, [], 'a start is no news');
  for (const passes of [false, false, false]) health.set('database', passes);
  clock.advance(20_000);
  health.set('database', true);
  health.set('database', true);
  t.strictSame(lines, [
    { level: 'error', message: 'not ready: database', fields: { failed: ['database'] } },
    { level: 'info', message: 'ready again', fields: { seconds: 20 } },
  ]);
});

t.test('a drain: its beginning, what it waits for when that has changed, its end', async (t) => {
  const { lines, log } = recorded();
  const clock = new SimulatedClock();
  const counts = { calls: 2, requests: 1, callSockets: 2, sockets: 0 };
  let drained = (): void => undefined;
  let refuses = (): void => undefined;
  const drain = new GatewayDrain({
    config: { drainSeconds: 60 },
    listening: {
      get underWay() {
        const { calls: _, ...underWay } = counts;
        return underWay;
      },
      drain: (how) => {
        refuses = () => how?.refuses?.();
        return new Promise((resolve) => (drained = resolve));
      },
      close: () => Promise.resolve(),
    },
    transport: {
      stop: () => Promise.resolve(),
      figures: () => ({ calls: counts.calls, places: null, draining: true, load: 0, callCost: 1 }),
    },
    clock,
    log,
    letGo: () => Promise.resolve(),
  });
  const over = drain.begin();
  for (let seconds = 0; seconds < 60; seconds += 5) {
    if (seconds === 10) refuses();
    if (seconds === 20) Object.assign(counts, { calls: 1, callSockets: 1 });
    clock.advance(5000);
    await setImmediate();
  }
  Object.assign(counts, { calls: 0, requests: 0, callSockets: 0 });
  drained();
  await over;
  exactly(t, lines, [
    { message: /^leaving: each connection/, fields: { calls: 2, requests: 1, seconds: 60 } },
    { message: /^leaving: new work is refused/, fields: { ms: 10_000 } },
    { message: 'leaving: still waiting', fields: { calls: 1, requests: 1, callSockets: 1 } },
    { message: 'leaving: nothing is waited for any more', fields: { calls: 0, requests: 0, ms: 60_000 } },
    { message: 'the gateway has let go of everything' },
  ]);
  t.equal(lines.length, 5);
});
