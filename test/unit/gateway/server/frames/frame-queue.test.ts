/** Frames of a socket that wait while one of them is read or looked into: their order, their bounds, and when they are dropped. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { type MemoryShare, UNBOUNDED_SHARE } from '../../../../../contracts/ports/accounts/memory.js';
import { AT_ONCE_BYTES } from '../../../../../gateway/server/bodies/structure.js';
import { type SocketFrame, FrameQueue, LongText } from '../../../../../gateway/server/frames/frame-queue.js';
import { DecodedBase64, parseLongText } from '../../../../../gateway/server/frames/long-json.js';
import { exactly } from '../../../../fixtures/exactly.js';

const textOf = (frame: SocketFrame): string =>
  frame instanceof LongText ? frame.bytes.toString() : String(frame);

/** A queue in which long frames are read later, and frames that begin with `?` are processed until the test ends that. */
function openQueue(share: MemoryShare = UNBOUNDED_SHARE) {
  const taken: string[] = [];
  const answers: (() => void)[] = [];
  const failures: unknown[] = [];
  let refused = 0;
  let exhausted = 0;
  const socket = { memory: () => share, failed: (error: unknown) => void failures.push(error) };
  const queue = new FrameQueue<string>(socket, {
    read(frame) {
      const text = textOf(frame).slice(0, 8);
      if (text === 'broken') throw new Error(text);
      return frame instanceof LongText ? turn(text) : text;
    },
    take(text) {
      taken.push(text);
      return text.startsWith('?') ? new Promise<void>((resolve) => answers.push(resolve)) : undefined;
    },
    failed(error) {
      throw error;
    },
    full: () => (refused += 1),
    exhausted: () => (exhausted += 1),
  });
  const answer = async (): Promise<void> => {
    answers.shift()?.();
    for (let turns = 0; turns < 4; turns += 1) await turn();
  };
  return { queue, taken, answer, failures, refused: () => refused, exhausted: () => exhausted };
}

const long = (head: string): LongText => new LongText(Buffer.alloc(AT_ONCE_BYTES + 8192, head.padEnd(8)));

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

t.test('frames behind a long one wait until it is read', async (t) => {
  const { queue, taken, answer } = openQueue();
  queue.push('a');
  queue.push(long('long'));
  for (const frame of ['b', 'c']) queue.push(frame);
  t.strictSame(taken, ['a']);
  await answer();
  t.strictSame(
    taken.map((text) => text.trim()),
    ['a', 'long', 'b', 'c'],
  );
});

t.test('a long frame is charged while it is read', async (t) => {
  let charged = 0;
  const share: MemoryShare = {
    ...UNBOUNDED_SHARE,
    charge: (bytes) => {
      charged += bytes;
      return charged <= 2 * AT_ONCE_BYTES;
    },
    release: (bytes) => void (charged -= bytes),
  };
  const { queue, taken, answer, exhausted } = openQueue(share);
  queue.push(long('first'));
  t.ok(charged > AT_ONCE_BYTES);
  queue.push(long('second'));
  t.equal(exhausted(), 1);
  await answer();
  t.equal(taken.length, 1);
});

t.test('waiting frames are bounded in count and size; more are refused', async (t) => {
  const { frames, bytes } = LIMITS.socket.waiting;
  const many = openQueue();
  many.queue.push('?');
  for (let count = 0; count < frames + 3; count += 1) many.queue.push('x');
  t.equal(many.refused(), 3);
  await many.answer();
  while (many.taken.length < 1 + frames) await turn();
  t.equal(many.taken.length, 1 + frames);

  const large = openQueue();
  const half = 'x'.repeat(bytes / 2);
  large.queue.push('?');
  for (let count = 0; count < 3; count += 1) large.queue.push(half);
  t.equal(large.refused(), 1);
  await large.answer();
  large.queue.push('?');
  large.queue.push(half);
  t.equal(large.refused(), 1, 'what was taken counts no more');
});

t.test('a queue that is cleared forgets what waits, and what is being read', async (t) => {
  const { queue, taken, answer } = openQueue();
  for (const frame of ['?a', 'b', 'c']) queue.push(frame);
  queue.clear();
  await answer();
  t.strictSame(taken, ['?a']);

  const reading = openQueue();
  reading.queue.push(long('long'));
  reading.queue.clear();
  await reading.answer();
  t.strictSame(reading.taken, []);
});

t.test('an unexpected error of a frame that waited ends the socket, not the process', async (t) => {
  const { queue, taken, answer, failures } = openQueue();
  for (const frame of ['?a', 'broken', 'b']) queue.push(frame);
  await answer();
  exactly(t, failures, [{ message: 'broken' }]);
  t.strictSame(taken, ['?a', 'b']);
});

t.test('a long frame is parsed as a short one, its base64 decoded', async (t) => {
  const audio = Buffer.alloc(AT_ONCE_BYTES + 1, 'sound');
  const parse = (value: object, head = '') =>
    parseLongText(new LongText(Buffer.from(head + JSON.stringify(value))), 'audio') as Promise<
      Record<string, unknown>
    >;
  const {
    type,
    audio: decoded,
    list,
  } = await parse({ audio: audio.toString('base64'), list: [1], type: 'x' }, '\ufeff');
  t.ok(decoded instanceof DecodedBase64);
  t.ok(audio.equals((decoded as DecodedBase64).bytes ?? Buffer.alloc(0)));
  t.strictSame({ type, list }, { type: 'x', list: [1] });
  const { audio: none } = await parse({ audio: `${'A'.repeat(AT_ONCE_BYTES)}!` });
  t.strictSame((none as DecodedBase64).bytes, undefined);
  const uri = await parse({
    audio: `data:audio/wav;base64,${audio.toString('base64').replace(/.{76}/g, '$&\n')}`,
  });
  t.ok(
    audio.equals((uri['audio'] as DecodedBase64).bytes ?? Buffer.alloc(0)),
    'a data: URI with line breaks',
  );
});

t.test('a text that is longer than any field may be is not read on', async (t) => {
  const { textLength } = LIMITS.socket;
  const frame = new LongText(Buffer.from(JSON.stringify({ text: 'п'.repeat(2 * textLength), end: 1 })));
  const value = (await parseLongText(frame)) as { text: string; end: number };
  t.ok(value.text.length > textLength && value.text.length < 1.5 * textLength);
  t.equal(value.end, 1);
});
