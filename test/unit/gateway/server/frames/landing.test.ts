/** Where large frames land: in one buffer that is kept for a while, and charged, and from there in memory of their own. */
import { randomFillSync } from 'node:crypto';
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { Landing } from '../../../../../gateway/server/frames/landing.js';
import { Ledger } from '../../../../../gateway/server/memory/ledger.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly } from '../../../../fixtures/exactly.js';

const MiB = 1024 * 1024;
const KEPT_MS = 60_000;

function frame(bytes: number): Buffer {
  const made = Buffer.allocUnsafeSlow(bytes);
  randomFillSync(made, 0, Math.min(bytes, 4096));
  randomFillSync(made, bytes - Math.min(bytes, 4096));
  return made;
}

const bufferOf = ({ buffer }: Buffer): ArrayBuffer => buffer as ArrayBuffer;

function open(budgetBytes = 64 * MiB) {
  const ledger = new Ledger(budgetBytes);
  const clock = new SimulatedClock();
  return { ledger, clock, landing: new Landing(ledger, clock) };
}

t.test('a frame has its own bytes, whatever lands later', async (t) => {
  const { landing } = open();
  const [first, second] = [frame(5 * MiB + 1), frame(3 * MiB)];
  const landed = landing.land(bufferOf(first), true);
  exactly(t, landed, { length: first.length, isText: true });
  const own = await landed?.bytes;
  t.ok(own?.equals(first));
  await landing.land(bufferOf(second), false)?.bytes;
  t.ok(own?.equals(first), 'not overwritten');
});

t.test('while one is on its way, another is its receiver’s to copy; small ones always are', async (t) => {
  const { landing } = open();
  const landed = landing.land(bufferOf(frame(4 * MiB)), true);
  t.equal(landing.land(bufferOf(frame(4 * MiB)), true), undefined);
  await landed?.bytes;
  t.equal(landing.land(bufferOf(frame(MiB)), true), undefined);
  t.ok(landing.land(bufferOf(frame(4 * MiB)), true));
});

t.test('the buffer is charged with what was used of it, and goes after a minute', async (t) => {
  const { ledger, clock, landing } = open();
  for (const [bytes, charged] of [
    [4 * MiB, 4 * MiB],
    [3 * MiB, 4 * MiB],
    [6 * MiB, 6 * MiB],
  ] as const) {
    await landing.land(bufferOf(frame(bytes)), true)?.bytes;
    t.equal(ledger.bytesOf('frame'), charged);
  }
  clock.advance(KEPT_MS - 1);
  t.equal(ledger.bytes, 6 * MiB);
  clock.advance(1);
  t.equal(ledger.bytes, 0);
  await landing.land(bufferOf(frame(2 * MiB)), true)?.bytes;
  t.equal(ledger.bytes, 2 * MiB, 'and comes with the next frame');
});

t.test('the kept buffer goes when anybody needs its memory, also while it holds a frame', async (t) => {
  const { ledger, landing } = open(8 * MiB);
  const sent = frame(4 * MiB);
  const landed = landing.land(bufferOf(sent), true);
  const share = ledger.openShare({ kind: 'body', holder: 'a', evict: () => t.fail('nobody else pays') });
  t.ok(share.charge(7 * MiB));
  t.equal(ledger.bytes, 7 * MiB);
  t.ok((await landed?.bytes)?.equals(sent));
  t.ok((await landing.land(bufferOf(sent), true)?.bytes)?.equals(sent), 'its receiver is charged for it');
  t.equal(ledger.bytes, 7 * MiB, 'and nobody goes for it');
});

t.test('a frame above the limit is refused elsewhere, and does not land', async (t) => {
  const { landing } = open(LIMITS.socket.frameBytes * 3);
  t.equal(landing.land(new ArrayBuffer(LIMITS.socket.frameBytes + 1), true), undefined);
});
