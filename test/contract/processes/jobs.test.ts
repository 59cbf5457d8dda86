/** Jobs of child processes: streams both ways and their windows, cancelling, errors, pools that share a child. */
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import t from '../../fixtures/tap.js';
import type { ServiceError } from '../../../contracts/errors.js';
import { silentLog } from '../../../contracts/log.js';
import { Channel } from '../../../processes/channel/channel.js';
import { type ChannelFrame, FrameReader, KIND } from '../../../processes/channel/frames.js';
import { createPool } from '../../../processes/caller/pool.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { children, facts, load, start } from '../../fixtures/processes/pool.js';
import { collect, never, seeded, socketFolder } from '../../fixtures/processes/tools.js';
import { until } from '../../fixtures/until.js';

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
    streams.map((values) => collect(pool.runJob('echo', {}, { input: input(values), signal: never() }))),
  );
  const same = back.every((values, stream) => isDeepStrictEqual(values, streams[stream]));
  t.ok(same);
  await until('all slots are free', () => load(pool).every((jobs) => jobs === 0));
});

t.test('a pool tells whether a child would take another job', async (t) => {
  const { pool } = await children(t, 2, { slots: 1, queue: 0, share: 1 });
  t.ok(pool.hasPlace);
  const jobs = ['one', 'two'].map((name) => start(pool, 'hold', { name }));
  for (const job of jobs) await job.next();
  t.notOk(pool.hasPlace, 'each has one');
  await rejectsExactly(t, start(pool, 'hold', { name: 'three' }).next(), { code: 'engine_busy' });
  await jobs[0]?.return?.();
  await until('one has left', () => pool.hasPlace);
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
      Array.from({ length: 4 }, () =>
        collect(pool.runJob('flood', { count: 200, bytes }, { signal: never() })),
      ),
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
  const slow = pool.runJob('readOne', {}, { input: endless(), signal: never() })[Symbol.asyncIterator]();
  await slow.next();
  const flood = pool.runJob('flood', { count: 1, bytes: 8 }, { signal: never() });
  t.equal((await collect(flood)).length, 1);
  await until('the window is full', () => pulled >= 256 * 1024);
  t.same((await facts(pool)).pid, pool.state()[0]?.pid, 'others go on');
  t.ok(pulled <= 256 * 1024 + 3 * bytes, `${pulled} bytes were pulled`);
  await slow.return?.();
  await until('the input is left', () => left === 1);
  const readSome = pool.runJob('readSome', { count: 3 }, { input: endless(), signal: never() });
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
  await rejectsExactly(t, start(pool, 'hold', { name: 'e' }).next(), { code: 'engine_busy', retryAfter: 1 });
  const reason = new Error('caller went');
  callers[1]?.abort(reason);
  await rejectsExactly(t, first[1] as Promise<unknown>, reason, 'the reader of a queued job is released');
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
  const read: number[] = [];
  for await (const value of pool.runJob('flood', { count: 1e9, bytes: 10 }, { signal: never() })) {
    read.push((value as Uint8Array).length);
    break;
  }
  t.strictSame(read, [10]);
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
    collect(pool.runJob(job, {}, { signal: never() })).then(
      () => t.fail(`${job} did not fail`) as never,
      (error: unknown) => error as ServiceError,
    );
  exactly(t, await failure('refuse'), {
    code: 'voice_not_found',
    message: 'No such voice',
    param: 'voice',
    retryAfter: 7,
  });
  const unknown = await failure('fail');
  t.equal(unknown.code, 'engine_failed');
  t.notMatch(unknown.message, /secret/);
  exactly(t, await failure('oversize'), { code: 'engine_failed', message: /over the limit/ });
  exactly(t, await failure('unsendable'), { code: 'engine_failed', message: /cannot be sent/ });
  t.equal((await failure('no such job')).code, 'engine_failed');
  t.equal((await failure('constructor')).code, 'engine_failed');
  const large = pool.runJob('echo', new Uint8Array(9 * 1024 * 1024), { signal: never() });
  await rejectsExactly(t, collect(large), { code: 'engine_failed', message: /over the limit/ });
  async function* broken(): AsyncGenerator<unknown, void> {
    yield 1;
    throw new Error('the caller’s own');
  }
  await t.rejects(collect(pool.runJob('echo', {}, { input: broken(), signal: never() })), /the caller’s own/);
  await until('all slots are free', () => load(pool).join() === '0,0');
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
  const both = [pool, other].map((from) => collect(from.runJob('flood', flood, { signal: never() })));
  t.same(
    (await Promise.all(both)).map(({ length }) => length),
    [300, 300],
  );
});

t.test('every caller learns how long each job waited for its slot, also of other callers', async (t) => {
  const { pool, workers } = await children(t, 1, { slots: 1 });
  const told: [string, number][] = [];
  const waited = (of: string, ms: number): void => void told.push([of, ms]);
  const other = createPool({ sockets: workers.sockets, log: silentLog, waited });
  t.teardown(() => other.close());
  await other.ready();
  const running = start(pool, 'hold', { name: 'running' });
  await running.next();
  const waiting = start(pool, 'hold', { name: 'waiting' });
  const began = waiting.next();
  await until('it waits', () => load(other).join() === '1,1');
  const since = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const least = performance.now() - since;
  await running.return?.();
  await began;
  await until('both are told of', () => told.length === 2);
  const [[what, none] = [], [again, wait] = []] = told;
  t.same([what, again], ['jobs', 'jobs']);
  t.ok(Number(wait) >= Math.floor(least), 'the wait of the second');
  t.ok(Number(none) < Number(wait), 'the first had its slot at once');
  await waiting.return?.();
});

t.test('waits that are no numbers of milliseconds are not believed', async (t) => {
  const folder = await socketFolder(t);
  const path = join(folder, 'odd.sock');
  const waits = { jobs: ['5', -1, NaN, 1e12, 7], pieces: 'many', waitingPieces: -3 };
  const server = createServer((socket) => {
    const channel = new Channel(socket, { frame: () => undefined, closed: () => undefined });
    channel.control(KIND.hello, 0, { version: 1, pid: process.pid, places: 1 });
    channel.control(KIND.load, 0, 1, 0, false, waits);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => server.close());
  const told: unknown[] = [];
  const pool = createPool({ sockets: [path], log: silentLog, waited: (of, ms) => void told.push([of, ms]) });
  t.teardown(() => pool.close());
  await until('the load is known', () => load(pool).join() === '1,0');
  t.same(told, [['jobs', 7]]);
  t.equal(pool.state()[0]?.waitingPieces, 0);
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
  await rejectsExactly(t, gone[1] as Promise<unknown>, { code: 'engine_lost' });
  await until('one is left', () => load(pool).join() === '1,0');
  await rejectsExactly(
    t,
    start(other, 'facts', {}).next(),
    { code: 'engine_lost' },
    'a closed pool runs nothing',
  );
  await kept.return?.();
});

t.test('control frames overtake the data that waits, and each kind keeps its order', async (t) => {
  const path = join(await socketFolder(t), 'x.sock');
  const seen: ChannelFrame[] = [];
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
