/** The feed that holds arriving text until its reader takes it: order, budget, flushes, ends on both sides. */
import t from '../../fixtures/tap.js';
import { TextFeed } from '../../../actors/text-feed.js';
import { PIECE_BYTES } from '../../../contracts/ports/accounts/memory.js';
import { until } from '../../fixtures/until.js';

const DONE = { done: true, value: undefined } as const;

t.test('a feed gives all text in order, within its budget', async (t) => {
  const feed = new TextFeed(10_000 + PIECE_BYTES);
  const read: string[] = [];
  const reading = (async () => {
    for await (const part of feed) read.push(part.kind === 'text' ? part.text : '|');
  })();
  t.ok(feed.add('one'));
  await until('it is read', () => read.length === 1);
  t.ok(feed.add(' two'));
  t.ok(feed.add(' three'));
  feed.flush();
  feed.flush();
  t.ok(feed.add('é'.repeat(4990)), '9,980 bytes, a flush and what waits');
  t.notOk(feed.add('a'.repeat(100)), 'over the budget');
  feed.end();
  t.ok(feed.add('late'), 'taken, and not kept');
  await reading;
  t.equal(read.join(''), `one two three|${'é'.repeat(4990)}`);
  t.ok(read.every((part) => part.length <= 4096));
  const full = new TextFeed(5);
  t.ok(full.add('12345'));
  t.notOk(full.add('6'));
  await full.next();
  t.ok(full.add('67890'), 'what was read makes room');
  await full.return();
  t.strictSame(await full.next(), DONE);
});

t.test('the feed says how much waits in it', async (t) => {
  const feed = new TextFeed(1000);
  t.ok(feed.add('äöü'));
  t.equal(feed.bytes, 6);
  feed.flush();
  await feed.next();
  t.equal(feed.bytes, 0);
});

/** What the reader of a feed is given to its end, text in quotation marks. */
async function readFrom(feed: TextFeed): Promise<string[]> {
  const read: string[] = [];
  for await (const part of feed) read.push(part.kind === 'text' ? `"${part.text}"` : part.kind);
  return read;
}

t.test('a feed gives text joined, flushes once, and after its end what still waits', async (t) => {
  const feed = new TextFeed(100_000);
  for (const text of ['a', '', 'b']) feed.add(text);
  feed.flush();
  feed.flush();
  feed.add('');
  feed.flush();
  feed.add('c');
  feed.end();
  t.ok(feed.add('late'));
  feed.flush();
  t.strictSame(await readFrom(feed), ['"ab"', 'flush', '"c"']);
});

t.test('a feed gives 4,096 characters at once, and counts the others as waiting', async (t) => {
  const feed = new TextFeed(100_000);
  const text = 'ab'.repeat(5000);
  feed.add(text);
  await feed.next();
  t.equal(feed.bytes, 10_000 - 4096);
  feed.end();
  t.strictSame(await readFrom(feed), [`"${text.slice(4096, 8192)}"`, `"${text.slice(8192)}"`]);
});

t.test('a feed whose reader has left takes nothing', async (t) => {
  const feed = new TextFeed(1000);
  feed.add('a');
  t.strictSame(await feed.return(), DONE);
  t.ok(feed.add('b'));
  t.equal(feed.bytes, 0);
  t.strictSame(await readFrom(feed), []);
});

t.test('each flush is given where it came, one where several came', async (t) => {
  const feed = new TextFeed(1000);
  feed.flush();
  feed.flush();
  feed.add('a');
  feed.flush();
  feed.add('b');
  feed.flush();
  feed.end();
  t.strictSame(await readFrom(feed), ['flush', '"a"', 'flush', '"b"', 'flush']);
});

t.test('a reader who waits is given text, a flush and the end as they come', async (t) => {
  const feed = new TextFeed(1000);
  const text = feed.next();
  feed.add('a');
  t.strictSame(await text, { done: false, value: { kind: 'text', text: 'a' } });
  t.equal(feed.bytes, 0);
  const flush = feed.next();
  feed.flush();
  t.strictSame(await flush, { done: false, value: { kind: 'flush' } });
  const end = feed.next();
  feed.end();
  t.strictSame(await end, DONE);
});

t.test('a reader who leaves while it waits is told the end', async (t) => {
  const feed = new TextFeed(1000);
  const waiting = feed.next();
  await feed.return();
  t.strictSame(await waiting, DONE);
});

t.test('text of exactly 4,096 characters is given at once', async (t) => {
  const feed = new TextFeed(10_000);
  feed.add('a'.repeat(4096));
  feed.end();
  t.strictSame(await readFrom(feed), [`"${'a'.repeat(4096)}"`]);
});

t.test('a feed from which all was read counts nothing, though a character was cut', async (t) => {
  for (const text of [
    ['a'.repeat(4095), '😀'],
    ['😀'.slice(0, 1), '😀'.slice(1)],
  ]) {
    const feed = new TextFeed(10_000);
    for (const part of text) feed.add(part);
    feed.flush();
    const read: string[] = [];
    while (!read.includes('|')) {
      const { value } = await feed.next();
      read.push(value?.kind === 'text' ? value.text : '|');
    }
    t.equal(read.join(''), `${text.join('')}|`);
    t.equal(feed.bytes, 0);
  }
});
