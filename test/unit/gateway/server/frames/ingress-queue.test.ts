/** Frames on their way to a dialect: at once, or in turns of the event loop, always in order, bounded and charged. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import type { MemoryShare } from '../../../../../contracts/ports/accounts/memory.js';
import { type SocketFrame, LongText } from '../../../../../gateway/server/frames/frame-queue.js';
import { FrameTurns } from '../../../../../gateway/server/frames/frame-turns.js';
import { IngressQueue } from '../../../../../gateway/server/frames/ingress-queue.js';
import { LandedFrame } from '../../../../../gateway/server/frames/landing.js';
import { Ledger } from '../../../../../gateway/server/memory/ledger.js';
import { until } from '../../../../fixtures/until.js';

const MiB = 1024 * 1024;
/** Longer than all frames of one socket may take in a turn. */
const SLOW_MS = 10;

function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** A queue whose frames take long if they begin with `slow`. */
function openQueue(share: MemoryShare, turn = new FrameTurns().of('a')) {
  const taken: string[] = [];
  const refused: string[] = [];
  const queue = new IngressQueue(share, {
    turn: () => turn,
    take(frame: SocketFrame) {
      const text = frame instanceof LongText ? frame.bytes.toString() : String(frame);
      if (text.startsWith('slow')) spin(SLOW_MS);
      taken.push(text);
    },
    full: () => refused.push('full'),
    exhausted: () => refused.push('exhausted'),
  });
  return { queue, taken, refused };
}

const shareOf = (ledger: Ledger, evict = (): void => undefined): MemoryShare =>
  ledger.openShare({ kind: 'frame', holder: 'a', evict });

t.test('frames pass at once while those of a turn have not taken long, others in later turns', async (t) => {
  const ledger = new Ledger(MiB);
  const { queue, taken } = openQueue(shareOf(ledger));
  for (const frame of ['a', 'slow b', 'c', 'slow d', 'slow e']) queue.push(frame);
  t.strictSame(taken, ['a', 'slow b'], 'the rest of the turn is for others');
  await turn();
  t.ok(taken.length < 5, 'one slow frame a turn');
  queue.push('f');
  await until('all have passed', () => taken.length === 6);
  t.strictSame(taken, ['a', 'slow b', 'c', 'slow d', 'slow e', 'f']);
  t.equal(ledger.bytes, 0, 'nothing stays charged');
  await turn();
  await turn();
  queue.push('g');
  t.equal(taken.at(-1), 'g', 'nothing waits any more');
});

t.test(
  'the sockets of a workspace share what one may take of a turn, and those of another have their own',
  async (t) => {
    const turns = new FrameTurns();
    const share = () => shareOf(new Ledger(MiB));
    const [first, second] = [openQueue(share(), turns.of('a')), openQueue(share(), turns.of('a'))];
    const other = openQueue(share(), turns.of('b'));
    for (const { queue } of [first, second, other]) queue.push('slow');
    t.strictSame([first.taken, second.taken, other.taken], [['slow'], [], ['slow']]);
    await until('it has its turn', () => second.taken.length === 1);
  },
);

const lent = (text: string): ArrayBuffer => new Uint8Array(Buffer.from(text)).buffer;

t.test(
  'small frames that have to wait are packed while they are lent, in order with the others',
  async (t) => {
    const ledger = new Ledger(64 * MiB);
    const { queue, taken } = openQueue(shareOf(ledger));
    t.equal(queue.holds(lent('a'), true), false, 'it may pass');
    queue.push('slow a');
    const bytes = lent('b');
    t.equal(queue.holds(bytes, true), true);
    new Uint8Array(bytes).fill(0);
    queue.push('c');
    const many = Array.from({ length: 3000 }, (_, at) => `${at} п`);
    for (const [at, text] of many.entries()) queue.holds(lent(text), at % 2 === 0);
    queue.push('d');
    await until('all have passed', () => taken.length === many.length + 4);
    t.strictSame(taken, ['slow a', 'b', 'c', ...many, 'd']);
    t.equal(ledger.bytes, 0, 'nothing stays charged');
    queue.clear();
    t.equal(queue.holds(lent('e'), true), true, 'dropped');
  },
);

t.test('packed frames are bounded and charged as others are', async (t) => {
  const { queue, taken, refused } = openQueue(shareOf(new Ledger(64 * MiB)));
  queue.push('slow');
  const { frames } = LIMITS.socket.waiting;
  for (let count = 0; count < frames + 2; count += 1) queue.holds(lent('x'), count % 2 === 0);
  t.strictSame(refused, ['full', 'full']);
  await until('all have passed', () => taken.length === frames + 1);

  const poor = openQueue(shareOf(new Ledger(64 * 1024)));
  poor.queue.push('slow');
  for (let count = 0; count < 300; count += 1) poor.queue.holds(lent('x'), true);
  t.ok(poor.refused.length > 0 && poor.refused.every((reason) => reason === 'exhausted'));
});

t.test('everything behind a frame that is still being copied waits for it', async (t) => {
  const { queue, taken } = openQueue(shareOf(new Ledger(MiB)));
  let land: (bytes: Buffer) => void = () => undefined;
  const bytes = new Promise<Buffer>((resolve) => (land = resolve));
  queue.push(new LandedFrame(6, true, bytes));
  queue.push('after');
  for (let turns = 0; turns < 4; turns += 1) await turn();
  t.strictSame(taken, []);
  land(Buffer.from('landed'));
  await until('both have passed', () => taken.length === 2);
  t.strictSame(taken, ['landed', 'after']);
});

t.test('what waits is bounded and charged', async (t) => {
  const { queue, taken, refused } = openQueue(shareOf(new Ledger(64 * MiB)));
  queue.push('slow');
  const { frames } = LIMITS.socket.waiting;
  for (let count = 0; count < frames + 2; count += 1) queue.push('x');
  t.strictSame(refused, ['full', 'full']);
  await until('all have passed', () => taken.length === frames + 1);

  const poor = openQueue(shareOf(new Ledger(64 * 1024)));
  poor.queue.push('slow');
  poor.queue.push('x'.repeat(60 * 1024));
  poor.queue.push('y'.repeat(8 * 1024));
  t.strictSame(poor.refused, ['exhausted']);
});

t.test('nothing passes once the socket closes', async (t) => {
  const { queue, taken } = openQueue(shareOf(new Ledger(MiB)));
  for (const frame of ['slow', 'b', 'c']) queue.push(frame);
  queue.clear();
  queue.push('d');
  for (let turns = 0; turns < 4; turns += 1) await turn();
  t.strictSame(taken, ['slow']);
});
