/** The body of a refused request: dropped for a bounded time, and never held meanwhile. */
import t from '../../../../fixtures/tap.js';
import { BodyPipe } from '../../../../../gateway/server/bodies/body-pipe.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';

const source = { pause: () => undefined, resume: () => undefined };
const DROP = { bytes: 1000, ms: 30_000, idleMs: 5000 };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function dropping(drop = DROP) {
  const clock = new SimulatedClock();
  const body = new BodyPipe(source, clock, undefined);
  const state = { over: false };
  const done = body.over(drop).then(() => (state.over = true));
  return { clock, body, state, done };
}

t.test('the rest of a refused body is awaited while it arrives, for as long as `ms`', async (t) => {
  const { clock, body, state, done } = dropping();
  for (let passed = 0; passed < 25_000; passed += 5000) {
    body.push(new Uint8Array(1));
    clock.advance(5000);
    await settled();
    t.equal(state.over, false, `after ${passed + 5000} ms`);
  }
  body.push(new Uint8Array(1));
  clock.advance(5000);
  await done;
});

t.test('it is over with a pause, with its last byte, and with too many', async (t) => {
  const paused = dropping();
  paused.clock.advance(DROP.idleMs);
  await paused.done;
  const ended = dropping();
  ended.body.end();
  await ended.done;
  const large = dropping();
  large.body.push(new Uint8Array(DROP.bytes + 1));
  await large.done;
  t.equal(large.body.receivedBytes, DROP.bytes + 1);
  t.equal(large.clock.pending, 0, 'no timer is left');
});

t.test(
  'a client that waits to be told is told once its body is read, and not if it is dropped',
  async (t) => {
    let invited = 0;
    const asking = { ...source, invite: () => void (invited += 1) };
    const refused = new BodyPipe(asking, new SimulatedClock(), 10);
    t.equal(await refused.discard({ bytes: 100, ms: 1000 }), false, 'there is nothing to wait for');
    t.equal(invited, 0);
    const read = new BodyPipe(asking, new SimulatedClock(), 10);
    const first = read.chunks(100).next();
    t.equal(invited, 1);
    read.push(new Uint8Array(10));
    read.end();
    t.equal((await first).value?.byteLength, 10);
    t.equal(await read.discard({ bytes: 100, ms: 1000 }), true);
    t.equal(invited, 1);
  },
);

t.test('the reader goes on once the stack has read all that it reads in this turn', async (t) => {
  const body = new BodyPipe(source, new SimulatedClock(), undefined);
  const read: number[] = [];
  const reading = (async () => {
    for await (const chunk of body.chunks(1000)) read.push(chunk.byteLength);
  })();
  for (let count = 0; count < 3; count += 1) {
    body.push(new Uint8Array(1));
    // As between two callbacks of the stack.
    await Promise.resolve();
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
  t.strictSame(read, [], 'nothing between two reads');
  await settled();
  await settled();
  t.strictSame(read, [1, 1, 1]);
  body.push(new Uint8Array(2), true);
  body.end();
  await reading;
  t.strictSame(read, [1, 1, 1, 2]);
});

t.test('a body that is all there is read at once', async (t) => {
  const body = new BodyPipe(source, new SimulatedClock(), undefined);
  const first = body.chunks(1000).next();
  body.push(new Uint8Array(3), true);
  body.end();
  let turned = false;
  setImmediate(() => (turned = true));
  t.equal((await first).value?.byteLength, 3);
  t.equal(turned, false);
});

t.test('the loop turns between parts whose reader takes long', async (t) => {
  const body = new BodyPipe(source, new SimulatedClock(), undefined);
  for (let count = 0; count < 8; count += 1) body.push(new Uint8Array(1));
  body.end();
  let turns = 0;
  const count = (): NodeJS.Immediate => setImmediate(() => ((turns += 1), (next = count())));
  let next = count();
  for await (const chunk of body.chunks(1000)) {
    const end = performance.now() + 5;
    while (chunk.byteLength > 0 && performance.now() < end);
  }
  clearImmediate(next);
  t.ok(turns >= 3, `${turns} turns`);
});

t.test('a dropped body counts what the adapter did not copy', (t) => {
  const body = new BodyPipe(source, new SimulatedClock(), undefined);
  t.equal(body.isDropped, false);
  body.fail(new Error('refused'));
  t.equal(body.isDropped, true);
  body.skip(7);
  t.equal(body.receivedBytes, 7);
  t.end();
});
