/** Frames of a realtime socket that wait while one of them is processed: their order, their bounds, and when they are dropped. */
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { type MemoryShare, UNBOUNDED_SHARE } from '../../contracts/ports/accounts/memory.js';
import { FrameQueue } from '../../gateway/dialects/protocol-a/realtime/frame-queue.js';

/** A queue in which frames that begin with `?` are processed until the test ends that. */
function openQueue(share: MemoryShare = UNBOUNDED_SHARE) {
  const taken: string[] = [];
  const answers: (() => void)[] = [];
  let refused = 0;
  let exhausted = 0;
  const queue = new FrameQueue(share, {
    take(frame) {
      taken.push(String(frame).slice(0, 8));
      return String(frame).startsWith('?') ? new Promise((resolve) => answers.push(resolve)) : undefined;
    },
    full: () => (refused += 1),
    exhausted: () => (exhausted += 1),
  });
  const answer = async (): Promise<void> => {
    answers.shift()?.();
    await turn();
  };
  return { queue, taken, answer, refused: () => refused, exhausted: () => exhausted };
}

t.test('one frame at a time, in order', async (t) => {
  const { queue, taken, answer } = openQueue();
  for (const frame of ['a', '?b', 'c', '?d', 'e']) queue.push(frame);
  t.strictSame(taken, ['a', '?b']);
  await answer();
  t.strictSame(taken, ['a', '?b', 'c', '?d']);
  queue.push('f');
  await answer();
  t.strictSame(taken, ['a', '?b', 'c', '?d', 'e', 'f']);
  queue.push('g');
  t.equal(taken.at(-1), 'g', 'nothing waits any more');
});

t.test('waiting frames are bounded in count and size; more are refused', async (t) => {
  const { waitingFrames, bufferedAudioBytes } = LIMITS.realtime;
  const many = openQueue();
  many.queue.push('?');
  for (let count = 0; count < waitingFrames + 3; count += 1) many.queue.push('x');
  t.equal(many.refused(), 3);
  await many.answer();
  t.equal(many.taken.length, 1 + waitingFrames);

  const large = openQueue();
  const half = 'x'.repeat(bufferedAudioBytes / 2);
  large.queue.push('?');
  for (let count = 0; count < 3; count += 1) large.queue.push(half);
  t.equal(large.refused(), 1);
  await large.answer();
  large.queue.push('?');
  large.queue.push(half);
  t.equal(large.refused(), 1, 'what was taken counts no more');
});

t.test('a queue that is cleared forgets what waits', async (t) => {
  const { queue, taken, answer } = openQueue();
  for (const frame of ['?a', 'b', 'c']) queue.push(frame);
  queue.clear();
  await answer();
  t.strictSame(taken, ['?a']);
});
