/** Who has sent more frames than can be read waits before the next socket: on a clock of the test's. */
import t from '../../../../fixtures/tap.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import type { ServiceError } from '../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { FloodBrake } from '../../../../../gateway/server/frames/flood-brake.js';
import { SocketDoor } from '../../../../../gateway/server/socket-door.js';
import { rejectsExactly } from '../../../../fixtures/exactly.js';

const { pauseMs, held } = LIMITS.socket.flood;
const REFUSED = {
  code: 'rate_limited',
  message: 'A WebSocket of yours sent more frames than can be read, try again later',
};

/** A brake, and what becomes of handshakes. */
function braked() {
  const clock = new SimulatedClock();
  const brake = new FloodBrake(clock);
  const passed: string[] = [];
  const pass = (name: string, holder = 'a'): Promise<void> =>
    brake.pass(holder).then(() => void passed.push(name));
  return { clock, brake, passed, pass };
}

t.test('a handshake waits until the pause is over, and nobody else’s does', async (t) => {
  const { clock, brake, passed, pass } = braked();
  await pass('before');
  brake.flooded('a');
  const waiting = pass('after');
  await pass('of another', 'b');
  t.strictSame(passed, ['before', 'of another']);
  clock.advance(pauseMs - 1);
  await pass('of another, later', 'b');
  t.strictSame(passed, ['before', 'of another', 'of another, later']);
  clock.advance(1);
  await waiting;
  await pass('next');
  t.strictSame(passed.slice(3), ['after', 'next']);
});

t.test('as many wait as may, and others are told when to come again', async (t) => {
  const { clock, brake, passed, pass } = braked();
  brake.flooded('a');
  const waiting = Array.from({ length: held }, () => pass('waited'));
  await rejectsExactly(t, pass('one more'), { ...REFUSED, retryAfter: 2 });
  clock.advance(pauseMs);
  await Promise.all(waiting);
  t.equal(passed.length, held);
  brake.flooded('a');
  const again = pass('again');
  clock.advance(pauseMs);
  await again;
  t.equal(passed.length, held + 1, 'those that have waited leave their places');
});

t.test('a handshake is refused if another socket has flooded while it waited', async (t) => {
  const { clock, brake, pass } = braked();
  brake.flooded('a');
  const waiting = pass('waits');
  clock.advance(pauseMs / 2);
  brake.flooded('a');
  clock.advance(pauseMs / 2);
  await rejectsExactly(t, waiting, { ...REFUSED, retryAfter: 1 });
});

t.test(
  'a handshake that is refused says so to whoever accepted it; those of calls are not held',
  async (t) => {
    const clock = new SimulatedClock();
    const door = new SocketDoor(clock);
    const told: string[] = [];
    const accept = { maxFrameBytes: 1, open: () => ({ message() {}, closed() {} }) };
    const refused = ({ code }: ServiceError): void => void told.push(code);
    door.brake.flooded('a');
    const waiting = Array.from({ length: held }, () => door.pass({ ...accept, refused }, 'a'));
    await rejectsExactly(t, door.pass({ ...accept, refused }, 'a'), { ...REFUSED, retryAfter: 2 });
    t.strictSame(told, ['rate_limited']);
    await door.pass({ ...accept, connectionMs: null }, 'a');
    await door.pass({ ...accept, provenAs: 'a number' }, 'a');
    clock.advance(pauseMs);
    await Promise.all(waiting);
    t.strictSame(told, ['rate_limited']);
  },
);
