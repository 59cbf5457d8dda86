import { createServer, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { systemClock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { Channel } from '../../processes/channel.js';
import {
  encodeFrame,
  FrameReader,
  HEADER_BYTES,
  KIND,
  writeLength,
  type Frame,
} from '../../processes/frames.js';
import { silentLog } from '../../contracts/log.js';
import { createPool, type Pool, type PoolOptions } from '../../processes/pool.js';
import { serveJobs } from '../../processes/serve-jobs.js';
import { superviseRole, type Supervision } from '../../processes/supervise.js';
import {
  collect,
  never,
  recordingLog,
  seeded,
  SimulatedClock,
  socketFolder,
  until,
} from '../fixtures/processes-tools.js';

// Real processes start slowly on a busy machine.
t.setTimeout(180_000);

const entry = new URL('../fixtures/processes-child.js', import.meta.url);
const restart = { initialMs: 10, maxMs: 100, stableMs: 10_000 };

interface Setup {
  readonly workers: Supervision;
  readonly pool: Pool;
}

/** Real children under a supervisor, and a pool on them. */
async function children(
  test: Test,
  count: number,
  options: object = {},
  poolOptions: Partial<PoolOptions> = {},
): Promise<Setup> {
  const folder = await socketFolder(test);
  const args = [JSON.stringify(options)];
  const workers = await superviseRole({
    role: 'test',
    entry,
    count,
    socketFolder: folder,
    args,
    restart,
    stopMs: 300,
    log: silentLog,
  });
  const pool = createPool({ sockets: workers.sockets, log: silentLog, waitMs: 60_000, ...poolOptions });
  test.teardown(async () => {
    pool.close();
    await workers.stop();
  });
  await pool.ready();
  return { workers, pool };
}

interface Facts {
  pid: number;
  bytesYielded: number;
  aborted: number;
  started: string[];
}

const facts = async (pool: Pool): Promise<Facts> =>
  (await collect(pool.run('facts', {}, { signal: never() })))[0] as Facts;

const start = (pool: Pool, job: string, args: unknown, signal = never()): AsyncIterator<unknown> =>
  pool.run(job, args, { signal })[Symbol.asyncIterator]();

const load = (pool: Pool): number[] => pool.state().flatMap(({ running, queued }) => [running, queued]);

t.test('many streams at once come back whole, in order, each to its own reader', async (t) => {
  const { pool } = await children(t, 2);
  const random = seeded(7);
  const streams = Array.from({ length: 40 }, (_, stream) =>
    Array.from({ length: 60 }, (_, index) =>
      index % 10 === 9
        ? { stream, index }
        : new Uint8Array(1 + Math.floor(random() * 9000)).fill(stream + index),
    ),
  );
  async function* input(values: unknown[]): AsyncGenerator<unknown, void> {
    yield* values;
  }
  const back = await Promise.all(
    streams.map((values) => collect(pool.run('echo', {}, { input: input(values), signal: never() }))),
  );
  const same = back.every((values, stream) => isDeepStrictEqual(values, streams[stream]));
  t.ok(same);
  await until('all slots are free', () => load(pool).every((jobs) => jobs === 0));
});

t.test('values arrive while the handler still works without a pause', async (t) => {
  const { pool } = await children(t, 1);
  const job = start(pool, 'stuck', {});
  t.equal((await job.next()).value, 'stuck');
});

t.test(
  'a slow reader stalls only its own stream, and the child sends it no more than the window',
  async (t) => {
    const { pool } = await children(t, 1);
    const bytes = 8000;
    const slow = start(pool, 'flood', { count: 2000, bytes });
    await slow.next();
    const others = await Promise.all(
      Array.from({ length: 4 }, () => collect(pool.run('flood', { count: 200, bytes }, { signal: never() }))),
    );
    t.same(
      others.map(({ length }) => length),
      [200, 200, 200, 200],
    );
    const forSlow = (await facts(pool)).bytesYielded - 4 * 200 * bytes;
    t.ok(forSlow <= 256 * 1024 + 3 * bytes, `${forSlow} bytes were produced for a reader that reads nothing`);
    let index = 0;
    for (;;) {
      const { value, done } = await slow.next();
      if (done === true) break;
      index += 1;
      if (new DataView((value as Uint8Array).buffer).getUint32(0) !== index)
        t.fail(`chunk ${index} is out of order`);
    }
    t.equal(index, 1999, 'and gets everything once it reads');
  },
);

t.test('a slow handler stalls only its own input', async (t) => {
  const { pool } = await children(t, 1);
  const bytes = 8000;
  let pulled = 0;
  let left = 0;
  async function* endless(): AsyncGenerator<unknown, void> {
    try {
      for (;;) {
        pulled += bytes;
        yield new Uint8Array(bytes);
      }
    } finally {
      left += 1;
    }
  }
  const slow = pool.run('readOne', {}, { input: endless(), signal: never() })[Symbol.asyncIterator]();
  await slow.next();
  const flood = pool.run('flood', { count: 1, bytes: 8 }, { signal: never() });
  t.equal((await collect(flood)).length, 1);
  await until('the window is full', () => pulled >= 256 * 1024);
  t.same((await facts(pool)).pid, pool.state()[0]?.pid, 'others go on');
  t.ok(pulled <= 256 * 1024 + 3 * bytes, `${pulled} bytes were pulled`);
  await slow.return?.();
  await until('the input is left', () => left === 1);
  const readSome = pool.run('readSome', { count: 3 }, { input: endless(), signal: never() });
  const some = readSome[Symbol.asyncIterator]();
  t.equal((await some.next()).value, 3);
  await until('an input that the handler left is left by the caller too', () => left === 2);
  await some.return?.();
});

t.test('a cancelled job frees its slot, running or queued', async (t) => {
  const { pool } = await children(t, 1, { slots: 1, queue: 3 });
  const callers = ['a', 'b', 'c', 'd'].map(() => new AbortController());
  const jobs = callers.map(({ signal }, index) => start(pool, 'hold', { name: 'abcd'[index] }, signal));
  const first = jobs.map((job) => job.next());
  t.equal((await first[0])?.value, 'a');
  await until('three wait', () => load(pool).join() === '1,3');
  await t.rejects(start(pool, 'hold', { name: 'e' }).next(), { code: 'engine_busy', retryAfter: 1 });
  const reason = new Error('caller went');
  callers[1]?.abort(reason);
  await t.rejects(first[1] as Promise<unknown>, reason, 'the reader of a queued job is released');
  await until('two wait', () => load(pool).join() === '1,2');
  callers[0]?.abort(reason);
  t.equal((await first[2])?.value, 'c', 'the next in order runs');
  await jobs[2]?.return?.();
  t.equal((await first[3])?.value, 'd', 'leaving the loop cancels too');
  await jobs[3]?.return?.();
  await until('all are gone', () => load(pool).join() === '0,0');
  const { started, aborted } = await facts(pool);
  t.same(started, ['a', 'c', 'd']);
  t.equal(aborted, 3);
});

t.test('a reader that breaks out of its loop cancels a handler that never waits', async (t) => {
  const { pool } = await children(t, 1, { slots: 2 });
  for await (const value of pool.run('flood', { count: 1e9, bytes: 10 }, { signal: never() })) {
    t.ok(value);
    break;
  }
  await until('the slot is free', () => load(pool).join() === '0,0');
});

t.test('a job that is aborted before it starts is never sent', async (t) => {
  const { pool } = await children(t, 1);
  await t.rejects(start(pool, 'hold', { name: 'x' }, AbortSignal.abort(new Error('early'))).next(), /early/);
  t.same((await facts(pool)).started, []);
});

t.test('errors: a ServiceError crosses, the text of any other does not', async (t) => {
  const { pool } = await children(t, 1);
  const failure = async (job: string): Promise<ServiceError> =>
    collect(pool.run(job, {}, { signal: never() })).then(
      () => t.fail(`${job} did not fail`) as never,
      (error: unknown) => error as ServiceError,
    );
  t.match(await failure('refuse'), {
    code: 'voice_not_found',
    message: 'No such voice',
    param: 'voice',
    retryAfter: 7,
  });
  const unknown = await failure('fail');
  t.equal(unknown.code, 'engine_failed');
  t.notMatch(unknown.message, /secret/);
  t.match(await failure('oversize'), { code: 'engine_failed', message: /over the limit/ });
  t.match(await failure('unsendable'), { code: 'engine_failed', message: /cannot be sent/ });
  t.equal((await failure('no such job')).code, 'engine_failed');
  t.equal((await failure('constructor')).code, 'engine_failed');
  const large = pool.run('echo', new Uint8Array(9 * 1024 * 1024), { signal: never() });
  await t.rejects(collect(large), { code: 'engine_failed', message: /over the limit/ });
  async function* broken(): AsyncGenerator<unknown, void> {
    yield 1;
    throw new Error('the caller’s own');
  }
  await t.rejects(collect(pool.run('echo', {}, { input: broken(), signal: never() })), /the caller’s own/);
  await until('all slots are free', () => load(pool).join() === '0,0');
});

t.test('SIGKILL of a child fails its own jobs, costs nobody else, and it comes back', async (t) => {
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

t.test('a child that does not end a cancelled job in time is killed; others go on', async (t) => {
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

t.test('two pools share one child in order of arrival', async (t) => {
  const { pool, workers } = await children(t, 1, { slots: 1 });
  const other = createPool({ sockets: workers.sockets, log: silentLog });
  t.teardown(() => other.close());
  await other.ready();
  const jobs: { job: AsyncIterator<unknown>; first: Promise<IteratorResult<unknown>> }[] = [];
  for (const [index, from] of [pool, other, pool, other, pool].entries()) {
    const job = start(from, 'hold', { name: `job ${index}` });
    jobs.push({ job, first: job.next() });
    await until('it is in the child', () => load(other).reduce((sum, count) => sum + count, 0) === index + 1);
  }
  t.same(load(pool), load(other), 'both are told of all the work');
  for (const [index, { job, first }] of jobs.entries()) {
    t.equal((await first).value, `job ${index}`);
    await job.return?.();
  }
  const flood = { count: 300, bytes: 5000 };
  const both = [pool, other].map((from) => collect(from.run('flood', flood, { signal: never() })));
  t.same(
    (await Promise.all(both)).map(({ length }) => length),
    [300, 300],
  );
});

t.test('a pool that goes takes its jobs with it, and no other’s', async (t) => {
  const { pool, workers } = await children(t, 1, { slots: 2 });
  const other = createPool({ sockets: workers.sockets, log: silentLog });
  await other.ready();
  const kept = start(pool, 'hold', { name: 'kept' });
  await kept.next();
  const gone = ['running', 'queued'].map((name) => start(other, 'hold', { name }).next());
  await gone[0];
  await until('one waits', () => load(pool).join() === '2,1');
  other.close();
  await t.rejects(gone[1] as Promise<unknown>, { code: 'engine_lost' });
  await until('one is left', () => load(pool).join() === '1,0');
  await t.rejects(start(other, 'facts', {}).next(), { code: 'engine_lost' }, 'a closed pool runs nothing');
  await kept.return?.();
});

const wire = (...frames: Frame[]): Buffer =>
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
    ...Array.from({ length: 5 }, (): Frame => [KIND.data, 1, new Uint8Array(200_000)]),
  ),
  'a frame that only children send': wire(
    [KIND.open, 1, { job: 'hold', args: { name: 'x' } }],
    [KIND.ack, 1],
  ),
};

t.test('a caller that breaks the protocol loses its connection, and nobody else anything', async (t) => {
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
    ...Array.from({ length: 5 }, (): Frame => [KIND.data, 1, new Uint8Array(200_000)]),
  ),
};

t.test('a child that breaks the protocol loses its connection, and its jobs are lost', async (t) => {
  const folder = await socketFolder(t);
  const hello: Frame = [KIND.hello, 0, { version: 1, pid: 2 ** 30, slots: 1 }];
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
    const job = pool.run('any', {}, { signal: never() })[Symbol.asyncIterator]();
    t.equal((await job.next()).value, 'first');
    await until('it is cut off', () =>
      log.lines.some(({ message }) => message.startsWith('lost the connection')),
    );
    await t.rejects(collect({ [Symbol.asyncIterator]: () => job }), { code: 'engine_lost' }, name);
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
  await t.rejects(start(pool, 'any', {}).next(), { code: 'engine_busy' });
  caller.abort(new Error('left'));
  await t.rejects(left, /left/);
  clock.advance(9_999);
  const served = start(pool, 'echo', {}).next();
  clock.advance(1);
  await t.rejects(late, { code: 'engine_lost' });

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
  t.equal(clock.timers, 0, 'no timer is left');
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
    const running = collect(pool.run('finishes', {}, { signal: never() }));
    await until('it runs', () => server.running === 1);
    const queued = start(pool, 'finishes', {}).next();
    await until('one waits', () => server.queued === 1);
    const closed = server.close(60_000);
    await t.rejects(queued, { code: 'draining' });
    await t.rejects(start(pool, 'finishes', {}).next(), { code: 'draining' });
    finish();
    t.same(await running, ['begun', 'finished']);
    await closed;
    t.same(log.lines, [], 'and nothing was wrong');
  },
);

t.test('control frames overtake the data that waits, and each kind keeps its order', async (t) => {
  const path = join(await socketFolder(t), 'x.sock');
  const seen: Frame[] = [];
  let sending: Socket | undefined;
  const server = createServer((socket) => (sending = socket)).listen(path);
  const reading = connect(path);
  t.teardown(() => {
    reading.destroy();
    server.close();
  });
  await until('it is connected', () => sending !== undefined);
  const channel = new Channel(sending as Socket, { frame: () => undefined, closed: () => undefined });
  const send = (kind: 'control' | 'data', count: number): void => {
    for (let index = 0; index < count; index += 1)
      channel[kind](KIND.data, index, kind, new Uint8Array(10_000));
  };
  send('data', 300);
  await new Promise(setImmediate);
  send('data', 1);
  send('control', 3);
  channel.end();
  const reader = new FrameReader((frame) => seen.push(frame));
  for await (const chunk of reading) reader.push(chunk as Buffer);
  const of = (kind: string): unknown[] => seen.filter((frame) => frame[2] === kind).map((frame) => frame[1]);
  t.same(of('data'), [...Array(300).keys(), 0]);
  t.same(of('control'), [0, 1, 2]);
  const last = seen.findLastIndex((frame) => frame[2] === 'control');
  t.ok(last < 100, `the last control frame came as number ${last} of ${seen.length}`);
});

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
      for await (const value of pool.run(
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
  for (let step = 0; step < 400; step += 1) {
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
    400,
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
