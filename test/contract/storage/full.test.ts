/** A gateway without disk space: a clear 503, and not ready, until there is space again. */
import t from '../../fixtures/tap.js';
import { ServiceError, toServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { silentLog } from '../../../contracts/log.js';
import { Health } from '../../../gateway/server/system/health.js';
import { watchStorage } from '../../../gateway/wiring/storage-health.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { recordingLog } from '../../fixtures/processes/tools.js';
import { until } from '../../fixtures/until.js';

const FULL = 'The server has no space left to store this, try again later';

void t.test('errors of disk and database about missing room are 503', async (t) => {
  const failed = (code: string, more: object = {}) => Object.assign(new Error('no'), { code, ...more });
  const told = (error: unknown): string => toServiceError(error).code;
  t.equal(told(failed('ENOSPC')), 'storage_full');
  t.equal(told(failed('53100', { query: 'insert' })), 'storage_full');
  t.equal(told(failed('53300', { query: 'insert' })), 'storage_unavailable');
  t.equal(told(failed('25006', { query: 'insert' })), 'storage_unavailable', 'it has become a standby');
  t.equal(told(failed('23505', { query: 'insert' })), 'internal');
  t.equal(new ServiceError('storage_full').status, 503);
});

void t.test('health shows a full data folder, and failed writes until one succeeds', async (t) => {
  const health = new Health(['storage']);
  const state = { free: LIMITS.storage.freeBytes, writes: false };
  const storage = watchStorage({
    health,
    dataDir: '/data',
    database: { writes: async () => state.writes },
    freeBytes: async () => state.free,
    clock: new SimulatedClock(),
    log: silentLog,
  });
  t.teardown(() => storage.stop());
  const report = async (): Promise<object> => {
    await storage.look();
    return health.report();
  };
  exactly(t, await report(), { status: 'ok', ready: true });
  state.free -= 1;
  exactly(t, await report(), { status: 'degraded', ready: false, checks: { storage: false } });
  state.free += 1;
  exactly(t, await report(), { status: 'ok' });
  storage.full();
  exactly(t, health.report(), { status: 'degraded' });
  exactly(t, await report(), { status: 'degraded' });
  state.writes = true;
  exactly(t, await report(), { status: 'ok' });
});

void t.test(
  'a gateway that starts on a full disk is degraded once all else is up, and logs why, once',
  async (t) => {
    const health = new Health(['database', 'media']);
    const log = recordingLog();
    const storage = watchStorage({
      health,
      dataDir: '/data',
      database: { writes: async () => true },
      freeBytes: async () => LIMITS.storage.freeBytes - 1,
      clock: new SimulatedClock(),
      log,
    });
    t.teardown(() => storage.stop());
    await storage.look();
    health.set('database', true);
    exactly(t, health.report(), {
      status: 'starting',
      ready: false,
      checks: { media: false, storage: false },
    });
    t.equal(await Promise.race([health.started, Promise.resolve('waits')]), 'waits');
    health.set('media', true);
    await health.started;
    exactly(t, health.report(), {
      status: 'degraded',
      ready: false,
      checks: { media: true, storage: false },
    });
    await storage.look();
    exactly(t, log.lines, [{ level: 'error', message: /no room left/ }]);
    t.equal(log.lines.length, 1);
  },
);

void t.test('a database that hangs is asked once, not every two seconds', async (t) => {
  const clock = new SimulatedClock();
  const asked: ((writes: boolean) => void)[] = [];
  const storage = watchStorage({
    health: new Health(['storage']),
    dataDir: '/data',
    database: { writes: () => new Promise((resolve) => asked.push(resolve)) },
    freeBytes: async () => LIMITS.storage.freeBytes,
    clock,
    log: silentLog,
  });
  t.teardown(() => storage.stop());
  storage.full();
  const answer = await until('it is asked', () => asked.shift());
  clock.advance(60_000);
  t.equal(clock.pending, 0, 'no other look is planned');
  answer(false);
  await until('the next look is planned', () => clock.pending === 1);
  clock.advance(2000);
  await until('it is asked again', () => asked.length === 1);
  t.pass();
});

void t.test('a database without room for a row: 503 with its reason, and back again', async (t) => {
  const { url: DATABASE_URL, open } = await startPostgres(t);
  const gateway = await startGateway({ DATABASE_URL });
  t.teardown(() => gateway.stop());
  const { sql } = await open();
  await sql.unsafe(`create function no_room() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger no_room before insert on agents execute function no_room()`);
  const headers = { ...gateway.authorization, 'content-type': 'application/json' };
  const create = () =>
    fetch(`${gateway.base}/v1/agent/agents`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'A' }),
    });
  const statusOf = async (): Promise<unknown> => {
    const response = await fetch(`${gateway.base}/health`);
    return ((await response.json()) as { status: string }).status;
  };
  const seen: unknown[] = [];
  await until('health tells of it', async () => {
    const refused = await create();
    t.equal(refused.status, 503);
    exactly(t, await refused.json(), { status: 503, message: FULL });
    seen.push(await statusOf());
    return seen.at(-1) === 'degraded';
  });
  await sql.unsafe('drop trigger no_room on agents');
  await until('it is well again', async () => (await statusOf()) === 'ok');
  t.equal((await create()).status, 201);
});
