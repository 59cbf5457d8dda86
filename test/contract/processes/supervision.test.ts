import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BUILT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { silentLog } from '../../../contracts/log.js';
import { createPool, type Pool } from '../../../processes/caller/pool.js';
import { superviseRole } from '../../../processes/supervisor/supervise.js';
import type { SuperviseOptions } from '../../../processes/supervisor/supervise-options.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { collect, never, recordingLog, runs, socketFolder } from '../../fixtures/processes/tools.js';
import { until } from '../../fixtures/until.js';

const entry = new URL('test/fixtures/processes/child.js', BUILT);
const supervisorEntry = fileURLToPath(new URL('test/fixtures/processes/supervisor.js', BUILT));

const echo = (folder: string, more: Partial<SuperviseOptions> = {}): SuperviseOptions => ({
  role: 'echo',
  entry,
  count: 1,
  socketFolder: folder,
  log: silentLog,
  ...more,
});

/** A supervisor in a process of its own; resolves with the pids of its workers once they serve. */
async function supervisorIn(folder: string): Promise<{ kill(): Promise<void>; workers: number[] }> {
  const supervisor = spawn(process.execPath, [supervisorEntry, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(supervisor.stdout), 'line')) as [string];
  const kill = async (): Promise<void> => {
    const exit = once(supervisor, 'exit');
    supervisor.kill('SIGKILL');
    await exit;
  };
  return { kill, workers: JSON.parse(line) as number[] };
}

t.test('nothing outlives a supervisor that is killed, and a new start works with what it left', async (t) => {
  const folder = await socketFolder(t);
  const first = await supervisorIn(folder);
  t.equal(first.workers.length, 2);
  await first.kill();
  for (const pid of first.workers) await until(`worker ${pid} is gone`, async () => !(await runs(pid)));
  await writeFile(join(folder, 'echo-7.sock'), '');
  const second = await superviseRole(echo(folder));
  t.teardown(() => second.stop());
  await second.ready();
  t.notOk((await readdir(folder)).includes('echo-7.sock'), 'stale files are removed');
});

t.test('a worker that is stuck when its supervisor is killed is swept away by the next start', async (t) => {
  const folder = await socketFolder(t);
  const first = await supervisorIn(folder);
  const pool = createPool({ sockets: [join(folder, 'echo-0.sock')], log: silentLog });
  await pool.ready();
  t.equal(
    (await pool.runJob('stuck', {}, { signal: never() })[Symbol.asyncIterator]().next()).value,
    'stuck',
  );
  const stuck = pool.state()[0]?.pid as number;
  await first.kill();
  pool.close();
  t.ok(await runs(stuck), 'it cannot see that it should leave');
  const second = await superviseRole(echo(folder));
  t.teardown(() => second.stop());
  await until('it is gone', async () => !(await runs(stuck)));
  await second.ready();
});

t.test('two supervisors do not share a folder', async (t) => {
  const folder = await socketFolder(t);
  const first = await superviseRole(echo(folder));
  t.teardown(() => first.stop());
  await t.rejects(superviseRole(echo(folder)), /runs workers in .* already/);
  await first.ready();
  const unseen = { child: 4_194_305, started: 'elsewhere/1', supervisor: 1 };
  await writeFile(join(folder, 'echo-0.pid'), JSON.stringify(unseen));
  await t.rejects(superviseRole(echo(folder)), /in another container runs workers in .* already/);
});

t.test(
  'stop leaves no process and no file, with jobs running, with a stuck worker, and while one starts',
  async (t) => {
    const folder = await socketFolder(t);
    const workers = await superviseRole(echo(folder, { count: 3, stopMs: 2000 }));
    const pool = createPool({ sockets: workers.sockets, log: silentLog });
    await pool.ready();
    const pids = workers.pids();
    const held = pool.runJob('hold', { name: 'held' }, { signal: never() })[Symbol.asyncIterator]();
    await held.next();
    const stuck = pool.runJob('stuck', {}, { signal: never() })[Symbol.asyncIterator]();
    await stuck.next();
    const lost = Promise.all([
      rejectsExactly(t, held.next(), { code: /draining|engine_lost/ }),
      rejectsExactly(t, stuck.next(), { code: 'engine_lost' }),
    ]);
    await Promise.all([workers.stop(), workers.stop()]);
    await lost;
    pool.close();
    for (const pid of pids) t.notOk(await runs(pid));
    t.same(workers.pids(), []);
    t.same(await readdir(folder), []);
    await rejectsExactly(t, workers.ready(), { code: 'draining' });

    const starting = await superviseRole(echo(folder, { count: 2 }));
    const early = starting.pids();
    await starting.stop();
    t.equal(early.length, 2);
    for (const pid of early) t.notOk(await runs(pid));
    t.same(await readdir(folder), []);
  },
);

t.test('a worker that crashes at its start is tried again ever more slowly', async (t) => {
  const folder = await socketFolder(t);
  const clock = new SimulatedClock();
  const log = recordingLog();
  const restart = { initialMs: 100, maxMs: 1000, stableMs: 60_000 };
  const health = { everyMs: 1e9, silenceMs: 1e9, announcedMs: 1e9 };
  const workers = await superviseRole(
    echo(folder, { clock, log, restart, health, args: ['{"crash":true}'], output: () => undefined }),
  );
  t.teardown(() => workers.stop());
  const exits = (): number[] =>
    log.lines
      .filter(({ message }) => message.startsWith('worker exited'))
      .map(({ fields }) => fields['restartMs'] as number);
  for (let round = 1; round <= 6; round += 1) {
    await until(`exit ${round}`, () => exits().length === round);
    clock.advance((exits()[round - 1] as number) - 1);
    t.same(workers.pids(), [], 'not before its time');
    clock.advance(1);
    t.equal(workers.pids().length, 1);
  }
  t.same(exits(), [100, 200, 400, 800, 1000, 1000]);
});

t.test('a worker that is silent, or never ready, is killed; a busy one is not', async (t) => {
  const folder = await socketFolder(t);
  const log = recordingLog();
  const health = { everyMs: 100, silenceMs: 1000, announcedMs: 60_000 };
  const restart = { initialMs: 10, maxMs: 100, stableMs: 10_000 };
  const workers = await superviseRole(echo(folder, { log, health, restart }));
  t.teardown(() => workers.stop());
  const pool = createPool({ sockets: workers.sockets, log: silentLog });
  t.teardown(() => pool.close());
  // The supervisor may get the hello after the pool does, and would take a worker that gets stuck before that for one that is never ready.
  await Promise.all([pool.ready(), workers.ready()]);
  const [pid] = workers.pids();
  const flood = await collect(pool.runJob('flood', { count: 2000, bytes: 1000 }, { signal: never() }));
  t.equal(flood.length, 2000);
  t.same(workers.pids(), [pid], 'work is no silence');
  const stuck = pool.runJob('stuck', {}, { signal: never() })[Symbol.asyncIterator]();
  await stuck.next();
  await rejectsExactly(t, stuck.next(), { code: 'engine_lost' });
  t.ok(log.lines.some(({ message }) => message.includes('echo worker 0 said nothing for 1 s')));
  await pool.ready();

  const unreadyLog = recordingLog();
  const unready = await superviseRole(
    echo(folder, { role: 'unready', log: unreadyLog, restart, startMs: 500, args: ['{"silent":true}'] }),
  );
  await until('it is killed', () =>
    unreadyLog.lines.some(({ message }) => message.includes('does not become ready')),
  );
  await until(
    'it is tried again',
    () => unreadyLog.lines.filter(({ message }) => message === 'worker started').length > 1,
  );
  await unready.stop();
});

t.test('a worker that serves before its hello is asked to leave; any other is killed', async (t) => {
  for (const servesBeforeHello of [true, false]) {
    const printed: string[] = [];
    const output = (line: string): void => void printed.push(line);
    const more = { servesBeforeHello, output, args: ['{"silent":true}'] };
    const workers = await superviseRole(echo(await socketFolder(t), more));
    await until('it listens', () => printed.includes('listening'));
    await workers.stop();
    t.equal(printed.includes('asked to leave'), servesBeforeHello);
    t.same(workers.pids(), []);
  }
});

t.test(
  'a worker that serves before its hello, but is stuck before it serves, is killed after ten seconds',
  async (t) => {
    const clock = new SimulatedClock();
    const printed: string[] = [];
    const output = (line: string): void => void printed.push(line);
    const more = { clock, output, servesBeforeHello: true, stopMs: 3_600_000, args: ['{"stuck":true}'] };
    const workers = await superviseRole(echo(await socketFolder(t), more));
    await until('it is stuck', () => printed.includes('stuck'));
    const [pid] = workers.pids();
    const stopped = workers.stop();
    clock.advance(9_999);
    t.ok(await runs(pid as number));
    clock.advance(1);
    await stopped;
    t.notOk(await runs(pid as number));
  },
);

t.test('workers are niced, ignore SIGINT, and their output reaches the log', async (t) => {
  const folder = await socketFolder(t);
  const log = recordingLog();
  const workers = await superviseRole(echo(folder, { log, nice: 7, heapMb: 64 }));
  t.teardown(() => workers.stop());
  await workers.ready();
  const [pid] = workers.pids() as [number];
  t.equal(getPriority(pid), Math.min(getPriority() + 7, 19), 'behind whoever started it');
  await until('its line is logged', () => log.lines.some(({ message }) => message === 'listening'));
  process.kill(pid, 'SIGINT');
  const pool = createPool({ sockets: workers.sockets, log: silentLog });
  t.teardown(() => pool.close());
  await pool.ready();
  const [facts] = await collect(pool.runJob('facts', {}, { signal: never() }));
  exactly(t, facts, { pid });
});

t.test('a folder that is too deep for a socket is refused before anything starts', async (t) => {
  const folder = join(await socketFolder(t), 'd'.repeat(100));
  await t.rejects(superviseRole(echo(folder)), /choose a shorter folder/);
  await t.rejects(superviseRole(echo(folder, { role: '../x' })), /no name for a role/);
});

t.test('an entry that does not exist is tried again and can be stopped', async (t) => {
  const folder = await socketFolder(t);
  const log = recordingLog();
  const workers = await superviseRole(echo(folder, { log, entry: join(folder, 'missing.js') }));
  await until('it has failed', () => log.lines.some(({ message }) => message.startsWith('worker exited')));
  await workers.stop();
  t.same(workers.pids(), []);
});

t.test('a worker that has done enough is replaced as soon as it is idle, and nothing is wrong', async (t) => {
  const folder = await socketFolder(t);
  const log = recordingLog();
  const workers = await superviseRole(echo(folder, { log, count: 2, args: ['{"retireAfter":3}'] }));
  t.teardown(() => workers.stop());
  const pool = createPool({ sockets: workers.sockets, log });
  t.teardown(() => pool.close());
  await pool.ready();
  const first = workers.pids();
  const hold = (name: string) => pool.runJob('hold', { name }, { signal: never() })[Symbol.asyncIterator]();
  const held = Array.from({ length: 6 }, (_, index) => hold(String(index)));
  await Promise.all(held.map((job) => job.next()));
  t.same(workers.pids(), first, 'not while it works');
  for (const job of held) await job.return?.();
  await until('both are others', () => workers.pids().every((pid) => !first.includes(pid)));
  await pool.ready();
  const lines = log.lines.filter(({ level }) => level !== 'info');
  t.same(lines, [], 'nobody is warned');
  t.equal(log.lines.filter(({ message }) => message.startsWith('worker retired')).length, 2);
});

t.test(
  'a worker that retires for want of work takes the next job before it goes, or another does',
  async (t) => {
    const folder = await socketFolder(t);
    const log = recordingLog();
    const workers = await superviseRole(echo(folder, { log, count: 1, args: ['{"retireIdle":1}'] }));
    t.teardown(() => workers.stop());
    const pool = createPool({ sockets: workers.sockets, log, waitMs: 60_000 });
    t.teardown(() => pool.close());
    const [first] = (await pool.ready(), workers.pids());
    for (let job = 0; job < 20; job += 1) {
      const input = (async function* () {
        yield job;
      })();
      t.same(await collect(pool.runJob('echo', {}, { input, signal: never() })), [job]);
    }
    await until('it is another', () => workers.pids()[0] !== undefined && workers.pids()[0] !== first);
    t.same(
      log.lines.filter(({ level }) => level !== 'info'),
      [],
      'nobody is warned',
    );
  },
);

t.test('a worker that wants to retire is chosen last, and refuses no job', async (t) => {
  const folder = await socketFolder(t);
  const args = ['{"retireAfter":1,"slots":2,"queue":0}'];
  const workers = await superviseRole(echo(folder, { count: 2, args }));
  t.teardown(() => workers.stop());
  const pool = createPool({ sockets: workers.sockets, log: silentLog });
  t.teardown(() => pool.close());
  await pool.ready();
  const jobs: AsyncIterator<unknown>[] = [];
  const loads = (): number[] => pool.state().map(({ running }) => running);
  for (const expected of [
    [0, 1],
    [1, 1],
    [1, 2],
    [2, 2],
  ]) {
    const job = pool.runJob('hold', { name: '' }, { signal: never() })[Symbol.asyncIterator]();
    await job.next();
    jobs.push(job);
    await until('its load is told', () => loads().reduce((sum, load) => sum + load) === jobs.length);
    t.same(loads().sort(), expected);
  }
  await rejectsExactly(t, collect(pool.runJob('hold', { name: '' }, { signal: never() })), {
    code: 'engine_busy',
  });
  for (const job of jobs) await job.return?.();
});

t.test('jobs that come while workers come and go are all done', async (t) => {
  const folder = await socketFolder(t);
  const workers = await superviseRole(echo(folder, { count: 2, args: ['{"retireAfter":5}'] }));
  t.teardown(() => workers.stop());
  const pools = [1, 2].map(() => createPool({ sockets: workers.sockets, log: silentLog, waitMs: 60_000 }));
  t.teardown(() => pools.forEach((pool) => pool.close()));
  await Promise.all(pools.map((pool) => pool.ready()));
  const first = new Set(workers.pids());
  let others = 0;
  for (let round = 0; round < 40; round += 1) {
    const pool = pools[round % 2];
    const input = (async function* () {
      yield round;
    })();
    const done = await collect((pool as Pool).runJob('echo', {}, { input, signal: never() }));
    t.same(done, [round]);
    for (const pid of workers.pids()) if (!first.has(pid)) others += 1;
  }
  t.ok(others > 0, 'workers were replaced meanwhile');
});
