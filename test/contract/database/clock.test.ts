/**
 * The clock of the database is set while calls are on: NTP corrects it, or a machine wakes up. What lasts for a while is
 * measured by clocks that nobody sets. The time of day is the database's for all processes, whatever their machines say.
 */
import { randomBytes } from 'node:crypto';
import t from '../../fixtures/tap.js';
import { type Clock, systemClock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { digestOf, RelayGate, signed } from '../../../gateway/agents/calls/node-claims.js';
import { dropDead } from '../../../storage/nodes.js';
import { endOverdue } from '../../../storage/sessions/sweep.js';
import { settableClock } from '../../fixtures/database/clock.js';
import { exactly, throwsExactly } from '../../fixtures/exactly.js';
import { startRuns } from '../../fixtures/platform/session-runs.js';
import { until } from '../../fixtures/until.js';

const { sql, postgres, create, runsOf, read } = await startRuns(t);
const setClock = await settableClock(sql);
const { sql: later } = await postgres.open();

const HOUR = 3600;

async function talking(runs: Awaited<ReturnType<typeof runsOf>>): Promise<string> {
  const id = await create();
  await runs.join(id);
  await runs.activate(id);
  return id;
}

/** Waits until `here` knows that `there` lives: it has seen it beat twice. */
async function untilSeen(there: { readonly processId: string }): Promise<void> {
  const beats = new Set<number>();
  await until('its heartbeat was seen', async () => {
    const [row] = await sql<{ at: Date }[]>`
      select seen_at as at from session_owners where process_id = ${there.processId}`;
    return beats.add(row?.at.getTime() ?? 0).size > 3;
  });
}

for (const [what, seconds] of [
  ['forward by an hour', HOUR],
  ['back by an hour', -HOUR],
] as const)
  t.test(`calls go on while the database’s clock is set ${what}`, async (t) => {
    const [here, there] = [await runsOf(t), await runsOf(t)];
    const [own, other] = [await talking(here), await talking(there)];
    t.teardown(() => setClock(0));
    await untilSeen(there);
    await setClock(seconds);
    exactly(t, await here.takeOver(other), { owner: { nodeId: there.processId } }, 'nobody takes it over');
    await endOverdue(later);
    await untilSeen(there);
    await endOverdue(later);
    for (const id of [own, other]) exactly(t, await read(id), { status: 'active', endedReason: null });
    t.ok(await here.isOwner(own));
    t.ok(await there.isOwner(other));
    t.equal(await there.finish(other, 'hangup'), true);
    const { durationSeconds } = await read(other);
    t.ok(durationSeconds !== null && durationSeconds >= 0, 'no call lasts less than nothing');
  });

t.test('a node that dies before the clock is set back is found dead all the same', async (t) => {
  const here = await runsOf(t);
  const id = await create();
  await sql`insert into session_owners (process_id, address, lease_ms, seen_at)
    values ('dead', '', ${CALL_TIMES.leaseMs}, now() + interval '1 hour')`;
  await sql`update sessions set status = 'active', joined_at = now(), started_at = now(), owner_id = 'dead' where id = ${id}`;
  await dropDead(later);
  exactly(t, await here.takeOver(id), { record: { id, status: 'active' } });
});

/** A machine whose clock is wrong by so much. */
const wrongBy = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });

const timeOfDay = async (): Promise<number> => {
  const [row] = await later<[{ at: Date }]>`select now() as at`;
  return row.at.getTime();
};

for (const minutes of [-5, 5, 24 * 60])
  t.test(`nodes relay to one another if the clock of one is wrong by ${minutes} minutes`, async (t) => {
    const wrong = await runsOf(t, wrongBy(minutes * 60_000));
    const right = await runsOf(t);
    const key = randomBytes(32);
    for (const [from, to] of [
      [wrong, right],
      [right, wrong],
    ] as const) {
      const gate = new RelayGate({ key, installation: to.processId, clock: to.node.clock });
      const session = { sessionId: 'sess_1', use: 'rejoin', digest: digestOf('') } as const;
      const claims = { ...session, to: to.processId, wants: 'owner' } as const;
      const header = signed(key, claims, from.node.clock);
      exactly(t, gate.admit(header), claims);
      throwsExactly(t, () => gate.admit(header), { code: 'forbidden', message: 'Used already' });
    }
  });

t.test('the time of day is the database’s, also once that was set', async (t) => {
  const { node } = await runsOf(t, wrongBy(300_000));
  const isShared = async (): Promise<boolean> =>
    Math.abs(node.clock.now() - (await timeOfDay())) < LIMITS.node.clockMs;
  t.ok(await isShared());
  t.teardown(() => setClock(0));
  await setClock(-HOUR);
  await until('it is known', isShared);
});
