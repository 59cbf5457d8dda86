/**
 * Postgres dies during writes: no acknowledged write is lost, writers get 503 and no other error, and the gateway keeps
 * running.
 */
import { setTimeout as pause } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { commandOf, familyOf } from '../../fixtures/processes/family.js';
import { EMBEDDED_POSTGRES, type Gateway, startGateway } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { shortOrLong } from '../../fixtures/long.js';
import { until } from '../../fixtures/until.js';

/** In turns of the postmaster alone, and of all its processes. */
const KILLS = shortOrLong(2, 50);
t.setTimeout(shortOrLong(300_000, 1_200_000));
const WRITERS = 40;
/** Acknowledged writes between two kills: the server is up, and more writes are running. */
const WRITES_BETWEEN = 40;

t.test('a connection that is lost within a transaction', async (t) => {
  const { sql } = await (await startPostgres(t)).open();
  await sql`create table notes (text text)`;
  const end = (pid: number) => sql`select pg_terminate_backend(${pid})`;

  t.test('fails what the transaction still asks for, and runs none of it outside', async (t) => {
    let late: Promise<unknown> = Promise.resolve();
    const work = sql.begin(async (tx) => {
      const [row] = await tx`select pg_backend_pid() as pid`;
      await end(row?.['pid'] as number);
      // The pool reconnects, for other statements.
      await until(
        'the connection is back',
        async () => (await sql`select 1 as one`.catch(() => [])).length > 0,
      );
      await Promise.all(Array.from({ length: 8 }, () => sql`select pg_sleep(0.05)`));
      late = tx`insert into notes values ('outside')`.then(
        () => 'it was run',
        (error: { code?: string }) => error.code,
      );
      await late;
    });
    await rejectsExactly(t, work, { code: 'CONNECTION_CLOSED' });
    t.equal(await until('the late statement is settled', () => late), 'CONNECTION_CLOSED');
    t.strictSame([...(await sql`select * from notes`)], []);
  });

  t.test('does not roll back the transaction that has the connection next', async (t) => {
    const failing = sql.begin(async (tx) => {
      const [row] = await tx`select pg_backend_pid() as pid`;
      await end(row?.['pid'] as number);
      await pause(300);
      throw new Error('late failure');
    });
    await t.rejects(failing);
    const others = Array.from({ length: 8 }, (_, index) =>
      sql.begin(async (tx) => {
        await tx`insert into notes values (${`kept ${index}`})`;
        await pause(500);
      }),
    );
    await Promise.all(others);
    t.equal((await sql`select * from notes`).length, others.length);
  });

  t.test('leaves connections that work', async () => {
    for (let round = 0; round < shortOrLong(40, 600); round += 1) {
      const busy = Array.from({ length: 8 }, (_, index) =>
        sql.begin(async (tx) => {
          if (index === 0) {
            const pids = await sql`select pid from pg_stat_activity where datname = current_database()`;
            await Promise.allSettled(pids.map(({ pid }) => end(pid as number)));
          }
          await tx`select 1`;
        }),
      );
      await Promise.allSettled(busy);
    }
    await until('all connections answer', () =>
      Promise.all(Array.from({ length: 16 }, () => sql`select pg_sleep(0.02)`)).catch(() => undefined),
    );
  });
});

interface Writes {
  readonly acknowledged: string[];
  readonly refusals: Map<string, number>;
}

/** Creates agents, one after the other, until `over`. */
async function write(gateway: Gateway, { acknowledged, refusals }: Writes, over: () => boolean) {
  while (!over()) {
    const outcome = await fetch(`${gateway.base}/v1/agent/agents`, {
      method: 'POST',
      headers: { ...gateway.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'written under fire' }),
      signal: AbortSignal.timeout(60_000),
    }).then(
      async (response) => ({
        status: response.status,
        body: (await response.json()) as { agent_id?: string },
      }),
      (error: Error) => ({ status: String(error.cause ?? error), body: {} as { agent_id?: string } }),
    );
    if (outcome.status === 201) acknowledged.push(outcome.body.agent_id ?? '');
    else refusals.set(String(outcome.status), (refusals.get(String(outcome.status)) ?? 0) + 1);
    if (outcome.status !== 201) await pause(20);
  }
}

/** Kills the postmaster, or, with `wholly`, all of its processes. */
function killPostgres(gateway: Gateway, wholly: boolean): void {
  const [postmaster] = familyOf(gateway.pid).filter((pid) => /postgres -D/.test(commandOf(pid)));
  if (postmaster === undefined) return;
  for (const pid of wholly ? familyOf(postmaster) : [postmaster]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has just ended.
    }
  }
}

/** A read may be refused for want of time on a busy machine; then it is asked for again, as its client would. */
async function statusOf({ base, authorization: headers }: Gateway, id: string): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(`${base}/v1/agent/agents/${id}`, { headers });
    await response.arrayBuffer();
    if (response.status !== 503 || tries === 20) return response.status;
    await pause(100);
  }
}

t.test(`Postgres is killed ${KILLS} times under ${WRITERS} writers`, async (t) => {
  const gateway = await startGateway({ ...EMBEDDED_POSTGRES, LOG_LEVEL: 'error' });
  t.teardown(() => gateway.stop());
  let left: number | null | undefined;
  void gateway.exited.then((code) => (left = code));
  const writes: Writes = { acknowledged: [], refusals: new Map() };
  let over = false;
  const ended = (): boolean => over || left !== undefined;
  const writers = Array.from({ length: WRITERS }, () => write(gateway, writes, ended));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = writes.acknowledged.length;
    await until(
      `writes are acknowledged again after kill ${kill}`,
      () => left !== undefined || writes.acknowledged.length >= before + WRITES_BETWEEN,
    );
    killPostgres(gateway, kill % 2 === 1);
  }
  const before = writes.acknowledged.length;
  await until(
    'it recovers',
    () => left !== undefined || writes.acknowledged.length > before + WRITES_BETWEEN,
  );
  over = true;
  await Promise.all(writers);
  t.equal(left, undefined, `the gateway stays: ${left === undefined ? '' : gateway.stderr().slice(-2000)}`);
  t.strictSame([...writes.refusals.keys()], ['503'], JSON.stringify([...writes.refusals]));
  const lost = [];
  for (const id of writes.acknowledged) {
    const status = await statusOf(gateway, id);
    if (status !== 200) lost.push(`${id}: ${status}`);
  }
  t.strictSame(lost, [], `of ${writes.acknowledged.length} acknowledged writes`);
  t.comment(`${writes.acknowledged.length} acknowledged, refused: ${JSON.stringify([...writes.refusals])}`);
});
