/** What comes of asking the database every two seconds whether it answers (docs/operate/incidents.md). */
import t from '../../../fixtures/tap.js';
import type { Test } from 'tap';
import { silentLog } from '../../../../contracts/log.js';
import { PartKeeper } from '../../../../gateway/server/parts/keeper.js';
import { Health } from '../../../../gateway/server/system/health.js';
import { Children } from '../../../../gateway/wiring/children.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { exactly } from '../../../fixtures/exactly.js';
import { until } from '../../../fixtures/until.js';

const DATABASE = { kind: 'database', name: 'postgres' } as const;

/** A database that answers so after so many milliseconds. */
function looked(t: Test, answer: boolean, ms: number) {
  const clock = new SimulatedClock();
  const keeper = new PartKeeper({ clock, log: silentLog });
  const children = new Children({ sockets: {}, keeper, clock, log: silentLog });
  const health = new Health(['database']);
  const answers = () => new Promise<boolean>((resolve) => void clock.after(ms, () => resolve(answer)));
  t.teardown(children.watch(health, { database: { answers }, part: DATABASE }));
  const report = () => keeper.reports().find(({ part: { kind } }) => kind === 'database');
  const told = async () => {
    clock.advance(ms);
    return until('it is told', () => (report()?.status === 'unknown' ? undefined : report()));
  };
  return { health, told };
}

t.test('a database that answers works', async (t) => {
  const { told } = looked(t, true, 3999);
  exactly(t, await told(), { status: 'ok', error: undefined });
});

t.test('one that answers after four seconds, on another connection, did not in time', async (t) => {
  const { health, told } = looked(t, true, 4000);
  exactly(t, await told(), { status: 'failing', error: { outcome: 'timeout' } });
  t.ok(health.report().ready, 'which ends no readiness');
});

t.test('a database that says nothing did not answer in time either', async (t) => {
  const { told } = looked(t, false, 5000);
  exactly(t, await told(), { status: 'failing', error: { outcome: 'timeout' } });
});

t.test('one that refuses connections is away', async (t) => {
  const { health, told } = looked(t, false, 10);
  exactly(t, await told(), { status: 'failing', error: { outcome: 'unreachable' } });
  t.notOk(health.report().ready);
});
