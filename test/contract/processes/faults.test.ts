/** Jobs when a child or a caller dies, leaves, gets stuck or breaks the protocol; then all of it at random. */
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { systemClock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { silentLog } from '../../../contracts/log.js';
import {
  encodeFrame,
  type ChannelFrame,
  HEADER_BYTES,
  KIND,
  writeLength,
} from '../../../processes/channel/frames.js';
import { createPool } from '../../../processes/caller/pool.js';
import { serveJobs } from '../../../processes/child/serve-jobs.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import { children, facts, load, start } from '../../fixtures/processes/pool.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { collect, never, recordingLog, seeded, socketFolder } from '../../fixtures/processes/tools.js';
import { until } from '../../fixtures/until.js';

t.test('SIGKILL of a child fails its own jobs only, and it is restarted', async (t) => {
  const { pool, workers } = await children(t, 2);
  const jobs = ['a', 'b', 'c', 'd'].map((name) => start(pool, 'hold', { name }));
  for (const job of jobs) await job.next();
  const [victim, survivor] = workers.pids() as [number, number];
  const outcomes = jobs.map(() => 'goes on');
  const ended = jobs.map(async (job, index) => {
    outcomes[index] = await job.next().then(
      () => 'ended',
      (error: unknown) => (error as ServiceError).code,
    );
  });
  process.kill(victim, 'SIGKILL');
  await until('it is back', () => pool.state().every(({ connected, pid }) => connected && pid !== victim));
  t.same([...outcomes].sort(), ['engine_lost', 'engine_lost', 'goes on', 'goes on']);
  t.equal(workers.pids()[1], survivor, 'the other child is the same');
  t.equal((await facts(pool)).pid, workers.pids()[0], 'the new one serves');
  for (const job of jobs) await job.return?.();
  await Promise.all(ended);
});

t.test('a child that does not end a cancelled job in time is killed; others continue', async (t) => {
  const { pool, workers } = await children(t, 2, {}, { cancelDeadlineMs: 300 });
  const before = workers.pids();
  const held = start(pool, 'hold', { name: 'held' });
  await held.next();
  const stuck = start(pool, 'stuck', {});
  t.equal((await stuck.next()).value, 'stuck');
  await stuck.return?.();
  await until('one child was replaced', () => {
    const now = workers.pids();
    return now.length === 2 && now.filter((pid) => before.includes(pid)).length === 1;
  });
  await pool.ready();
  await held.return?.();
  await until('all slots are free', () => load(pool).every((jobs) => jobs === 0));
});

const wire = (...frames: ChannelFrame[]): Buffer =>
  Buffer.concat(
    frames.flatMap((frame) => {
      const body = Buffer.from(encodeFrame(frame));
      const length = new Uint8Array(HEADER_BYTES);
      writeLength(length, 0, body.length);
      return [length, body];
    }),
  );

const BAD_CALLERS: Record<string, Buffer> = {
  'another protocol': Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
  'an oversize frame': Buffer.from([0x7f, 0xff, 0xff, 0xff]),
  'no MessagePack': Buffer.from([0, 0, 0, 2, 0xc1, 0xc1]),
  'a value that is no frame': Buffer.from([0, 0, 0, 1, 0x05]),
  'a stream opened twice': wire(
    [KIND.open, 1, { job: 'hold', args: { name: 'twice' }, input: false }],
    [KIND.open, 1, { job: 'hold', args: { name: 'twice' }, input: false }],
  ),
  'more input than the window': wire(
    [KIND.open, 1, { job: 'readOne', args: null, input: true }],
    ...Array.from({ length: 5 }, (): ChannelFrame => [KIND.data, 1, new Uint8Array(200_000)]),
  ),
  'a frame that only children send': wire(
    [KIND.open, 1, { job: 'hold', args: { name: 'x' } }],
    [KIND.ack, 1],
  ),
};

t.test('a caller that breaks the protocol loses its connection, and no other caller does', async (t) => {
  const { pool, workers } = await children(t, 1);
  const held = start(pool, 'hold', { name: 'held' });
  await held.next();
  const [pid] = workers.pids();
  for (const [name, bytes] of Object.entries(BAD_CALLERS)) {
    const socket: Socket = connect(workers.sockets[0] as string);
    socket.on('error', () => undefined).resume();
    socket.write(bytes);
    await new Promise((resolve) => socket.once('close', resolve));
    t.equal((await facts(pool)).pid, pid, `${name} is cut off`);
  }
  await until('their jobs are gone', () => load(pool).join() === '1,0');
  await held.return?.();
});

const BAD_CHILDREN: Record<string, Buffer> = {
  garbage: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'a frame that only callers send': wire([KIND.cancel, 1]),
  'more values than the window': wire(
    ...Array.from({ length: 5 }, (): ChannelFrame => [KIND.data, 1, new Uint8Array(200_000)]),
  ),
};

t.test('a child that breaks the protocol loses its connection, and its jobs are lost', async (t) => {
  const folder = await socketFolder(t);
  const hello: ChannelFrame = [KIND.hello, 0, { version: 1, pid: 2 ** 30, slots: 1 }];
  for (const [index, [name, bytes]] of Object.entries(BAD_CHILDREN).entries()) {
    const path = join(folder, `${index}.sock`);
    const server = createServer((socket) => {
      socket.on('error', () => undefined).write(wire(hello));
      socket.once('data', () => socket.write(wire([KIND.data, 1, 'first'])));
      socket.once('data', () => socket.write(bytes));
    }).listen(path);
    const log = recordingLog();
    const pool = createPool({ sockets: [path], log });
    await pool.ready();
    const job = pool.runJob('any', {}, { signal: never() })[Symbol.asyncIterator]();
    t.equal((await job.next()).value, 'first');
    await until('it is cut off', () =>
      log.lines.some(({ message }) => message.startsWith('lost the connection')),
    );
    await rejectsExactly(t, collect({ [Symbol.asyncIterator]: () => job }), { code: 'engine_lost' }, name);
    pool.close();
    server.close();
  }
});

t.test('with no child a job waits a while, in bounded numbers, and can be left', async (t) => {
  const folder = await socketFolder(t);
  const path = join(folder, 'x.sock');
  const clock = new SimulatedClock();
  const pool = createPool({ sockets: [path], log: silentLog, clock, waiting: 2 });
  t.teardown(() => pool.close());
  const late = start(pool, 'any', {}).next();
  const caller = new AbortController();
  const left = start(pool, 'any', {}, caller.signal).next();
  await rejectsExactly(t, start(pool, 'any', {}).next(), { code: 'engine_busy' });
  caller.abort(new Error('left'));
  await t.rejects(left, /left/);
  clock.advance(9_999);
  const served = start(pool, 'echo', {}).next();
  clock.advance(1);
  await rejectsExactly(t, late, { code: 'engine_lost' });

  const handlers = {
    async *echo() {
      yield 'at last';
    },
  };
  const server = await serveJobs({ socketPath: path, handlers, slots: 1 });
  await until('the pool has connected', () => {
    clock.advance(10);
    return pool.state()[0]?.connected === true;
  });
  t.equal((await served).value, 'at last', 'and runs when a child comes in time');
  pool.close();
  t.equal(clock.pending, 0, 'no timer is left');
  await server.close(0);
});

t.test(
  'a child that leaves ends its running jobs, refuses the queued ones, and removes its socket',
  async (t) => {
    const folder = await socketFolder(t);
    const path = join(folder, 'x.sock');
    let finish: () => void = () => undefined;
    const handlers = {
      async *finishes() {
        yield 'begun';
        await new Promise<void>((resolve) => (finish = resolve));
        yield 'finished';
      },
    };
    const log = recordingLog();
    const server = await serveJobs({ socketPath: path, handlers, slots: 1, log });
    const pool = createPool({ sockets: [path], log: silentLog, clock: systemClock });
    t.teardown(() => pool.close());
    await pool.ready();
    const running = collect(pool.runJob('finishes', {}, { signal: never() }));
    await until('it runs', () => server.running === 1);
    const queued = start(pool, 'finishes', {}).next();
    await until('one waits', () => server.queued === 1);
    const closed = server.close(60_000);
    await rejectsExactly(t, queued, { code: 'draining' });
    await rejectsExactly(t, start(pool, 'finishes', {}).next(), { code: 'draining' });
    finish();
    t.same(await running, ['begun', 'finished']);
    await closed;
    t.same(log.lines, [], 'and nothing was wrong');
  },
);

const STEPS = shortOrLong(200, 400);

t.test('random opens, leaves, aborts and kills: every job ends exactly once', async (t) => {
  const { pool, workers } = await children(t, 2, { slots: 4, queue: 200 }, { cancelDeadlineMs: 20_000 });
  const seed = Number(process.env['SEED'] ?? 20_26);
  const random = seeded(seed);
  const pick = <T>(...choices: T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const outcomes: Record<string, number> = {};
  const one = async (): Promise<string> => {
    const caller = new AbortController();
    const size = Math.floor(random() * 20_000);
    const leaveAfter = pick(0, 1, 5, Infinity);
    const abortAfter = pick(1, 3, Infinity, Infinity);
    async function* input(): AsyncGenerator<unknown, void> {
      for (let index = 0; index < 30; index += 1) yield new Uint8Array(size).fill(index);
    }
    const job = pick('echo', 'echo', 'flood', 'refuse');
    let read = 0;
    try {
      for await (const value of pool.runJob(
        job,
        { count: 30, bytes: size + 4 },
        { input: input(), signal: caller.signal },
      )) {
        if ((value as Uint8Array).length < size) return 'torn';
        read += 1;
        if (read >= abortAfter) caller.abort(new Error('aborted'));
        if (read > leaveAfter) return 'left';
      }
      return read === 30 ? 'whole' : `short: ${read} of ${job}`;
    } catch (error) {
      return error instanceof ServiceError ? error.code : (error as Error).message;
    }
  };
  const kill = (pid: number | undefined): void => void (pid !== undefined && process.kill(pid, 'SIGKILL'));
  const running = new Set<Promise<void>>();
  for (let step = 0; step < STEPS; step += 1) {
    const ended = one().then((outcome) => {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      running.delete(ended);
    });
    running.add(ended);
    if (random() < 0.3) await new Promise(setImmediate);
    if (step % 100 === 50) kill(pick(...workers.pids()));
    if (running.size > 100) await Promise.race(running);
  }
  await Promise.all(running);
  t.equal(
    Object.values(outcomes).reduce((sum, count) => sum + count, 0),
    STEPS,
    JSON.stringify({ seed, outcomes }),
  );
  t.same(
    Object.keys(outcomes).filter(
      (outcome) =>
        !['whole', 'left', 'aborted', 'voice_not_found', 'engine_lost', 'engine_busy'].includes(outcome),
    ),
    [],
    'no other outcome',
  );
  await pool.ready();
  await until('no slot is held', () => load(pool).every((jobs) => jobs === 0));
});
