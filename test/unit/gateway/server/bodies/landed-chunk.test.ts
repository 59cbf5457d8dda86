/** Parts of bodies land in blocks that are lent to their reader, charged, kept for a while and used again. */
import { randomFillSync } from 'node:crypto';
import t from '../../../../fixtures/tap.js';
import { BodyPipe } from '../../../../../gateway/server/bodies/body-pipe.js';
import { ChunkLanding, LandedChunk } from '../../../../../gateway/server/bodies/landed-chunk.js';
import { Ledger } from '../../../../../gateway/server/memory/ledger.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const READ = 512 * KiB;
const KEPT_MS = 1000;

const bytesOf = (size: number): ArrayBuffer => randomFillSync(new Uint8Array(size)).buffer;

function open(budgetBytes = 64 * MiB) {
  const ledger = new Ledger(budgetBytes);
  const clock = new SimulatedClock();
  return { ledger, clock, landing: new ChunkLanding(ledger, clock) };
}

/** All that the stack reads in one turn. */
const readAtOnce = (landing: ChunkLanding, parts: readonly ArrayBuffer[]) =>
  parts.map((bytes) => landing.land(bytes));

function pipeOf({ ledger, clock }: ReturnType<typeof open>, holder = 'a') {
  const body = new BodyPipe({ pause: () => undefined, resume: () => undefined }, clock, undefined);
  const share = ledger.openShare({ kind: 'body', holder, evict: (error) => body.fail(error) });
  body.charge(share);
  return { body, share };
}

t.test('a body is read as it came, and its blocks are used again', async (t) => {
  const at = open();
  const { body } = pipeOf(at);
  const sent = [READ, 5 * KiB, 100, 70_000, READ].map(bytesOf);
  for (const chunk of readAtOnce(at.landing, sent)) body.push(chunk);
  body.end();
  const memories = new Set<ArrayBufferLike>();
  let index = 0;
  for await (const chunk of body.chunks(10 * MiB)) {
    t.ok(Buffer.from(sent[index++]!).equals(chunk), `${index}`);
    memories.add(chunk.buffer);
  }
  t.equal(memories.size, sent.length);
  const again = readAtOnce(at.landing, [bytesOf(READ), bytesOf(READ), bytesOf(READ)]);
  const known = again.map((chunk) => chunk instanceof LandedChunk && memories.has(chunk.bytes.buffer));
  t.strictSame(known, [true, true, false]);
});

t.test('what is lent is not used again before the next one is asked for', async (t) => {
  const at = open();
  const { body } = pipeOf(at);
  const sent = bytesOf(READ);
  body.push(at.landing.land(sent));
  const chunks = body.chunks(10 * MiB);
  const { value: lent } = await chunks.next();
  readAtOnce(at.landing, [bytesOf(READ), bytesOf(READ)]);
  t.ok(Buffer.from(sent).equals(lent!));
  t.equal(at.ledger.bytes, READ, 'and it stays charged');
  await chunks.return();
  const next = at.landing.land(bytesOf(READ));
  t.equal(next instanceof LandedChunk && next.bytes.buffer, lent!.buffer);
});

t.test('small parts have memory of their own', (t) => {
  const read = readAtOnce(open().landing, [bytesOf(4095), bytesOf(4096)]);
  t.strictSame(
    read.map((chunk) => chunk instanceof LandedChunk),
    [false, true],
  );
  t.end();
});

t.test('bytes are charged once: to their pipe while they wait, to the blocks afterwards', async (t) => {
  const at = open();
  const { body } = pipeOf(at);
  for (const chunk of readAtOnce(
    at.landing,
    Array.from({ length: 6 }, () => bytesOf(READ)),
  ))
    body.push(chunk);
  body.end();
  t.equal(at.ledger.bytes, 6 * READ);
  let bytes = 0;
  for await (const chunk of body.chunks(MiB * 10)) bytes += chunk.byteLength;
  t.equal(bytes, 6 * READ);
  t.equal(at.ledger.bytes, 6 * READ, 'what is kept');
  at.clock.advance(KEPT_MS);
  at.clock.advance(KEPT_MS);
  t.equal(at.ledger.bytes, 0, 'unused for that long');
});

t.test('what is used now and then stays, what is more than that goes', (t) => {
  const at = open();
  const { body } = pipeOf(at);
  for (const chunk of readAtOnce(
    at.landing,
    Array.from({ length: 8 }, () => bytesOf(READ)),
  ))
    body.push(chunk);
  body.forget();
  for (let turn = 0; turn < 3; turn += 1) {
    at.clock.advance(KEPT_MS - 1);
    const chunk = at.landing.land(bytesOf(READ));
    if (chunk instanceof LandedChunk) chunk.leave();
    at.clock.advance(1);
  }
  t.equal(at.ledger.bytes, READ);
  t.end();
});

t.test('a body that nobody reads gives its place back', (t) => {
  const at = open();
  const { body } = pipeOf(at);
  for (const chunk of readAtOnce(
    at.landing,
    Array.from({ length: 4 }, () => bytesOf(READ)),
  ))
    body.push(chunk);
  body.forget();
  body.fail(new Error('the client has gone'));
  body.push(at.landing.land(bytesOf(READ)), true);
  at.clock.advance(KEPT_MS);
  at.clock.advance(KEPT_MS);
  t.equal(at.ledger.bytes, 0);
  t.equal(body.receivedBytes, 5 * READ);
  t.end();
});

t.test('free blocks go before anybody pays, and never more than the budget is charged', (t) => {
  const at = open(4 * MiB);
  const one = pipeOf(at);
  for (const chunk of readAtOnce(
    at.landing,
    Array.from({ length: 6 }, () => bytesOf(READ)),
  ))
    one.body.push(chunk);
  one.body.forget();
  t.equal(at.ledger.bytes, 6 * READ);
  const other = at.ledger.openShare({ kind: 'audio', holder: 'b', evict: () => t.fail('nobody pays') });
  t.ok(other.charge(4 * MiB));
  t.equal(at.ledger.bytes, 4 * MiB, 'the blocks are gone');
  const chunk = at.landing.land(bytesOf(READ));
  if (chunk instanceof LandedChunk) chunk.leave();
  t.equal(at.ledger.bytes, 4 * MiB, 'and none is kept where there is no room');
  t.end();
});
