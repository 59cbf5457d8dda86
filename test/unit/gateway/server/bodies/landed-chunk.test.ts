/** Parts of bodies that the stack reads faster than the event loop turns land in memory that is kept, charged and used again. */
import { randomFillSync } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../fixtures/tap.js';
import { BodyPipe } from '../../../../../gateway/server/bodies/body-pipe.js';
import { ChunkLanding, LandedChunk } from '../../../../../gateway/server/bodies/landed-chunk.js';
import { Ledger } from '../../../../../gateway/server/memory/ledger.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const READ = 512 * KiB;
const KEPT_MS = 5000;

const bytesOf = (size: number): ArrayBuffer => randomFillSync(new Uint8Array(size)).buffer;

function open(budgetBytes = 64 * MiB) {
  const ledger = new Ledger(budgetBytes);
  const clock = new SimulatedClock();
  return { ledger, clock, landing: new ChunkLanding(ledger, clock) };
}

/** All that the stack reads in one turn. */
const readAtOnce = (landing: ChunkLanding, parts: readonly ArrayBuffer[]) =>
  parts.map((bytes) => landing.land(bytes));

t.test('what comes beyond 1 MiB in a turn lands, and has its own bytes once it is taken', async (t) => {
  const { landing } = open();
  const sent = Array.from({ length: 5 }, () => bytesOf(READ));
  const read = readAtOnce(landing, sent);
  t.strictSame(
    read.map((chunk) => chunk instanceof LandedChunk),
    [false, false, true, true, true],
  );
  const taken = read.map((chunk) => (chunk instanceof LandedChunk ? chunk.take() : chunk));
  readAtOnce(landing, [bytesOf(READ), bytesOf(READ)]);
  for (const [at, bytes] of taken.entries()) t.ok(Buffer.from(sent[at]!).equals(bytes), `${at}`);
  await turn();
  t.notOk(landing.land(bytesOf(READ)) instanceof LandedChunk, 'each turn begins anew');
});

t.test('small parts never land', (t) => {
  const { landing } = open();
  const read = readAtOnce(
    landing,
    Array.from({ length: 100 }, () => bytesOf(32 * KiB)),
  );
  t.notOk(read.some((chunk) => chunk instanceof LandedChunk));
  t.end();
});

t.test('bytes are charged once: to their pipe while they wait, to the kept memory afterwards', async (t) => {
  const { ledger, clock, landing } = open();
  const body = new BodyPipe({ pause: () => undefined, resume: () => undefined }, clock, undefined);
  body.charge(ledger.openShare({ kind: 'body', holder: 'a', evict: () => t.fail('there is room') }));
  for (const chunk of readAtOnce(
    landing,
    Array.from({ length: 6 }, () => bytesOf(READ)),
  ))
    body.push(chunk);
  body.end();
  t.equal(ledger.bytes, 6 * READ);
  let bytes = 0;
  for await (const chunk of body.chunks(MiB * 10)) bytes += chunk.byteLength;
  t.equal(bytes, 6 * READ);
  t.equal(ledger.bytes, 4 * READ, 'what landed');
  clock.advance(KEPT_MS);
  t.equal(ledger.bytes, 0);
});

t.test('a body that nobody reads gives its place back', (t) => {
  const { ledger, clock, landing } = open();
  const body = new BodyPipe({ pause: () => undefined, resume: () => undefined }, clock, undefined);
  body.charge(ledger.openShare({ kind: 'body', holder: 'a', evict: () => t.fail('there is room') }));
  for (const chunk of readAtOnce(
    landing,
    Array.from({ length: 4 }, () => bytesOf(READ)),
  ))
    body.push(chunk);
  body.forget();
  body.fail(new Error('the client has gone'));
  body.push(landing.land(bytesOf(READ)), true);
  clock.advance(KEPT_MS);
  t.equal(ledger.bytes, 0);
  t.equal(body.receivedBytes, 5 * READ);
  t.end();
});

t.test(
  'what is kept is an eighth of the budget, and never more than a text: the rest is copied at once',
  (t) => {
    const parts = Array.from({ length: 70 }, () => bytesOf(READ));
    for (const [budgetBytes, keptBytes] of [
      [64 * MiB, 8 * MiB],
      [1024 * MiB, 32 * MiB],
    ] as const) {
      const read = readAtOnce(open(budgetBytes).landing, parts);
      t.equal(read.filter((chunk) => chunk instanceof LandedChunk).length, keptBytes / READ);
    }
    t.end();
  },
);
