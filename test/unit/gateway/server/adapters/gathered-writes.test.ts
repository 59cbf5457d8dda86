/** Streamed replies: chunks that leave at once, chunks that are written together, and back-pressure. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../fixtures/tap.js';
import type { ReplyHead } from '../../../../../gateway/server/adapters/adapter.js';
import { GatheredWrites } from '../../../../../gateway/server/adapters/gathered-writes.js';
import { isTurnOver } from '../../../../../contracts/time/loop-turn.js';

const HEAD: ReplyHead = { status: 200, headers: [], close: false };

/** Records its writes; `clear` is its answer. */
class Written {
  readonly calls: string[] = [];
  clear = true;

  begin = (_head: ReplyHead, chunk: string | Uint8Array): boolean => this.#note('begin', chunk);
  write = (chunk: string | Uint8Array): boolean => this.#note('write', chunk);
  finish = (chunk: string | Uint8Array = ''): boolean => this.#note('finish', chunk);

  #note(call: string, chunk: string | Uint8Array): boolean {
    this.calls.push(`${call} ${Buffer.from(chunk).toString()}`);
    return this.clear;
  }
}

t.test('the first chunk leaves at once, what is there next to one another is written together', async (t) => {
  const channel = new Written();
  const writes = new GatheredWrites(channel);
  t.ok(writes.begin(HEAD, 'a'));
  t.same(channel.calls, ['begin a']);
  for (const chunk of ['b', Buffer.from('c'), '', 'd']) {
    await Promise.resolve();
    t.ok(writes.write(chunk));
  }
  t.same(channel.calls, ['begin a'], 'nothing yet');
  await turn();
  t.same(channel.calls, ['begin a', 'write bcd']);
  await turn();
  t.equal(channel.calls.length, 2, 'once');
});

t.test('the rest goes with the end, in one call', async (t) => {
  const channel = new Written();
  const writes = new GatheredWrites(channel);
  writes.begin(HEAD, 'a');
  writes.write('b');
  writes.write('ü');
  t.ok(writes.finish());
  await turn();
  t.same(channel.calls, ['begin a', 'finish bü']);
});

t.test(
  'much is written at once, and a channel that is full wants no more until it is writable',
  async (t) => {
    const channel = new Written();
    const writes = new GatheredWrites(channel);
    writes.begin(HEAD, 'a');
    channel.clear = false;
    t.notOk(writes.write(new Uint8Array(64 * 1024)));
    t.equal(channel.calls.length, 2, 'not held');
    t.notOk(writes.write('b'), 'still full');
    writes.writable();
    channel.clear = true;
    t.ok(writes.write('c'));
    await turn();
    t.equal(channel.calls.at(-1), 'write bc');
  },
);

t.test('while a channel is full it is written nothing, and gets the rest once it is writable', async (t) => {
  const channel = new Written();
  const writes = new GatheredWrites(channel);
  channel.clear = false;
  t.notOk(writes.begin(HEAD, 'a'));
  t.notOk(writes.write('b'));
  t.notOk(writes.write(new Uint8Array(64 * 1024)));
  await turn();
  t.same(channel.calls, ['begin a']);
  writes.writable();
  await turn();
  t.equal(channel.calls.length, 2);
  t.notOk(writes.flowing, 'full again');
  channel.clear = true;
  writes.writable();
  t.ok(writes.flowing);
  t.ok(writes.finish());
  t.same(channel.calls.slice(2), ['finish ']);
});

t.test('chunks before a failure are not lost', (t) => {
  const channel = new Written();
  const writes = new GatheredWrites(channel);
  writes.begin(HEAD, 'a');
  writes.write('b');
  writes.flush();
  writes.flush();
  t.same(channel.calls, ['begin a', 'write b']);
  t.end();
});

t.test(
  'a turn of the event loop counts as over after some milliseconds of work, until the next begins',
  async (t) => {
    t.notOk(isTurnOver());
    const since = performance.now();
    while (performance.now() - since < 3);
    t.ok(isTurnOver());
    await turn();
    t.notOk(isTurnOver());
  },
);
