import t from 'tap';
import { ServiceError } from '../../contracts/errors.js';
import { MOST_UNTOLD, WaitTally } from '../../contracts/time/wait-tally.js';
import { WINDOW_BYTES, Inbound } from '../../processes/channel/credit.js';
import {
  decodeFrame,
  encodeFrame,
  FRAME_BYTES,
  FrameReader,
  HEADER_BYTES,
  KIND,
  writeLength,
  type Frame,
} from '../../processes/channel/frames.js';
import { Backoff } from '../../processes/backoff.js';
import { errorFromWire, errorToWire } from '../../processes/errors.js';
import { inProcess } from '../../processes/caller/in-process.js';
import { checkSocketPath } from '../../processes/channel/socket-path.js';
import { collect, never } from '../fixtures/processes-tools.js';

const onWire = (frame: Frame): Uint8Array => {
  const body = encodeFrame(frame);
  const bytes = new Uint8Array(HEADER_BYTES + body.length);
  writeLength(bytes, 0, body.length);
  bytes.set(body, HEADER_BYTES);
  return bytes;
};

t.test('frames come out whole however the socket cuts them', (t) => {
  const frames: Frame[] = [
    [KIND.open, 1, { job: 'a', args: { text: 'héllo', n: 1.5 }, input: true }],
    [KIND.data, 1, new Uint8Array(300).fill(7)],
    [KIND.end, 1],
  ];
  const all = Buffer.concat(frames.map(onWire));
  for (let size = 1; size <= all.length; size += 1) {
    const seen: Frame[] = [];
    const reader = new FrameReader((frame) => seen.push(frame));
    for (let at = 0; at < all.length; at += size) reader.push(all.subarray(at, at + size));
    if (seen.length !== 3) t.fail(`chunks of ${size} bytes gave ${seen.length} frames`);
    if (size % 50 === 1) t.same(seen, frames, `chunks of ${size} bytes`);
  }
  t.end();
});

t.test('binary that comes out is the receiver’s own, aligned and exactly as long', (t) => {
  const chunk = onWire([
    KIND.data,
    9,
    { kind: 'audio', samples: new Int16Array([1, -2, 3]), list: [new Uint8Array(2)] },
  ]);
  let value: { samples: Uint8Array; list: Uint8Array[] } | undefined;
  new FrameReader((frame) => (value = frame[2] as typeof value)).push(chunk);
  chunk.fill(255);
  const { samples, list } = value ?? (t.fail('no frame') as never);
  t.equal(samples.constructor, Uint8Array);
  t.same([...new Int16Array(samples.buffer)], [1, -2, 3]);
  t.equal(list[0]?.buffer.byteLength, 2);
  t.end();
});

t.test('invalid frames are refused', (t) => {
  const reader = (): FrameReader => new FrameReader(() => t.fail('took it for a frame'));
  const long = new Uint8Array(HEADER_BYTES);
  writeLength(long, 0, FRAME_BYTES + 1);
  t.throws(() => reader().push(long), RangeError, 'a length over the limit');
  t.throws(() => reader().push(new Uint8Array(HEADER_BYTES)), RangeError, 'an empty frame');
  t.throws(() => reader().push(Buffer.from('GET / HTTP/1.1\r\n\r\n')), RangeError, 'another protocol');
  t.throws(() => decodeFrame(new Uint8Array([0x91, 0x02])), /not a frame/, 'an array that is too short');
  t.throws(() => decodeFrame(new Uint8Array([0x92, 0x02, 0xff])), /not a frame/, 'a negative stream');
  t.throws(
    () => decodeFrame(new Uint8Array([0x92, 0x02, 0x01, 0x00])),
    /Extra 1 of 4/,
    'bytes behind the frame',
  );
  t.throws(
    () => decodeFrame(new Uint8Array([0xdd, 0xff, 0xff, 0xff, 0xff])),
    /array length \(4294967295\)/,
    'an array that claims 4 billion items',
  );
  t.end();
});

t.test('a value that is too large or cannot be sent is refused with a clear error', (t) => {
  const large = [KIND.data, 1, new Uint8Array(FRAME_BYTES)] as const;
  t.throws(() => encodeFrame(large), { code: 'engine_failed', message: /over the limit of 8388608 bytes/ });
  t.throws(() => encodeFrame([KIND.data, 1, () => 1]), { code: 'engine_failed', message: /cannot be sent/ });
  t.same(decodeFrame(encodeFrame([KIND.end, 4])), [KIND.end, 4], 'and the next frame is fine');
  t.end();
});

t.test('a reader gives credit back as it reads, and cuts off who sends without', async (t) => {
  const granted: number[] = [];
  const inbound = new Inbound({ taken: (bytes) => granted.push(bytes), left: () => t.fail('nobody left') });
  const half = WINDOW_BYTES / 2;
  inbound.push('a', half);
  inbound.push('b', half);
  t.throws(() => inbound.push('c', 1), /without credit/);
  t.same(granted, [], 'nothing is given back for unread values');
  t.equal((await inbound.next()).value, 'a');
  t.ok((granted[0] ?? 0) >= half);
  inbound.push('c', 1);
  inbound.end();
  t.same(await collect(inbound), ['b', 'c']);
});

t.test('queued values come before the error behind them, and a drop lets go of them', async (t) => {
  const events = { taken: () => undefined, left: () => undefined };
  const failed = new Inbound(events);
  failed.push(1, 1);
  failed.fail(new Error('late'));
  t.equal((await failed.next()).value, 1);
  await t.rejects(failed.next(), /late/);
  t.equal((await failed.next()).done, true, 'the error is told once');
  const dropped = new Inbound(events);
  dropped.push(1, 1);
  dropped.drop({ error: new Error('now') });
  await t.rejects(dropped.next(), /now/);
});

t.test('leaving releases a waiting reader, and notifies the sender once', async (t) => {
  let left = 0;
  const inbound = new Inbound({ taken: () => undefined, left: () => (left += 1) });
  const waiting = inbound.next();
  await inbound.return();
  await inbound.return();
  t.equal((await waiting).done, true);
  t.equal(left, 1);
});

t.test('waits that are not read are bounded', (t) => {
  const waits = new WaitTally();
  for (let count = 0; count < 2 * MOST_UNTOLD; count += 1) waits.enter()(true);
  t.equal(waits.take().length, MOST_UNTOLD);
  t.end();
});

t.test('waits double up to their cap until a success', (t) => {
  const backoff = new Backoff({ initialMs: 100, maxMs: 1000 });
  t.same(
    Array.from({ length: 6 }, () => backoff.next()),
    [100, 200, 400, 800, 1000, 1000],
  );
  backoff.reset();
  t.equal(backoff.next(), 100);
  t.end();
});

t.test('errors cross with all their fields, and malformed ones are engine_failed', (t) => {
  const sent = new ServiceError('engine_busy', {
    message: 'full',
    param: 'p',
    retryAfter: 3,
    cause: 'hidden',
  });
  const wire = errorToWire(sent);
  t.notMatch(JSON.stringify(wire), /hidden/);
  t.match(errorFromWire(wire), {
    code: 'engine_busy',
    message: 'full',
    param: 'p',
    retryAfter: 3,
    status: 503,
  });
  for (const wrong of [null, 7, {}, { code: 'toString' }, { code: 5 }]) {
    t.equal(errorFromWire(wrong).code, 'engine_failed');
  }
  t.end();
});

t.test('a socket path that the system would cut is refused', (t) => {
  t.throws(() => checkSocketPath(`/tmp/${'x'.repeat(110)}.sock`), /choose a shorter folder/);
  t.doesNotThrow(() => checkSocketPath('/tmp/short.sock'));
  t.end();
});

t.test('in process', async (t) => {
  const state = { cleaned: 0, inputLeft: 0, aborted: 0 };
  const endless = async function* (): AsyncGenerator<number, void> {
    try {
      for (let value = 0; ; value += 1) yield value;
    } finally {
      state.inputLeft += 1;
    }
  };
  const runner = inProcess({
    async *echo(_args: unknown, input) {
      try {
        yield* input;
      } finally {
        state.cleaned += 1;
      }
    },
    async *hang(_args: unknown, _input, { signal }) {
      yield 'up';
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          state.aborted += 1;
          reject(signal.reason as Error);
        }),
      );
    },
    // oxlint-disable-next-line require-yield
    async *fail() {
      throw new Error('secret');
    },
    // oxlint-disable-next-line require-yield
    async *refuse() {
      throw new ServiceError('voice_not_found');
    },
  });
  const of = async function* (...values: unknown[]): AsyncGenerator<unknown, void> {
    yield* values;
  };

  t.same(await collect(runner.run('echo', {}, { input: of(1, 2), signal: never() })), [1, 2]);
  t.same(await collect(runner.run('echo', {}, { signal: never() })), [], 'no input is an empty one');
  await t.rejects(collect(runner.run('fail', {}, { signal: never() })), {
    code: 'engine_failed',
    message: 'The speech engine failed',
  });
  await t.rejects(collect(runner.run('refuse', {}, { signal: never() })), { code: 'voice_not_found' });
  await t.rejects(collect(runner.run('toString', {}, { signal: never() })), { code: 'engine_failed' });

  for await (const value of runner.run('echo', {}, { input: endless(), signal: never() })) {
    if (value === 3) break;
  }
  await new Promise(setImmediate);
  t.same([state.cleaned, state.inputLeft], [3, 1], 'leaving the loop ends the handler and leaves its input');

  const caller = new AbortController();
  const reader = runner.run('hang', {}, { signal: caller.signal })[Symbol.asyncIterator]();
  t.equal((await reader.next()).value, 'up');
  const waiting = reader.next();
  caller.abort(new Error('gone'));
  await t.rejects(waiting, /gone/);
  t.equal((await reader.next()).done, true);
  t.equal(state.aborted, 1);

  await t.rejects(
    collect(runner.run('hang', {}, { signal: AbortSignal.abort(new Error('before')) })),
    /before/,
  );
  const unknown = runner.run('no such job', {}, { signal: never() })[Symbol.asyncIterator]();
  await t.rejects(unknown.next(), { code: 'engine_failed' });
  t.equal((await unknown.next()).done, true, 'an error is told once');

  const broken = async function* (): AsyncGenerator<unknown, void> {
    yield 1;
    throw new Error('the caller’s own');
  };
  await t.rejects(collect(runner.run('echo', {}, { input: broken(), signal: never() })), /the caller’s own/);
});
