/** A user's audio on its way to the worker, on a simulated clock (gateway/agents/calls/paced-audio.ts). */
import t from '../../../../fixtures/tap.js';
import { PacedAudio } from '../../../../../gateway/agents/calls/paced-audio.js';
import { UNBOUNDED_SHARE } from '../../../../../contracts/ports/accounts/memory.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';

const BYTES_PER_MS = 48;
const second = (fill: number): Uint8Array => new Uint8Array(1000 * BYTES_PER_MS).fill(fill);

/** A line that counts the bytes it was sent, and those that are charged. */
function line(most = Infinity) {
  const clock = new SimulatedClock();
  const sent: number[] = [];
  const charged = { bytes: 0 };
  const share = {
    ...UNBOUNDED_SHARE,
    charge: (bytes: number) => charged.bytes + bytes <= most && ((charged.bytes += bytes), true),
    release: (bytes: number) => void (charged.bytes -= bytes),
  };
  const audio = new PacedAudio(BYTES_PER_MS, share, clock, (bytes) => sent.push(bytes.length));
  const ms = (): number => sent.reduce((sum, bytes) => sum + bytes, 0) / BYTES_PER_MS;
  return { audio, clock, charged, ms };
}

t.test('audio that comes at once is sent as it is spoken, a little ahead', async (t) => {
  const { audio, clock, charged, ms } = line();
  for (let at = 0; at < 5; at += 1) t.ok(audio.push(second(at)));
  t.ok(ms() >= 1500 && ms() <= 2600, `${ms()} ms at once`);
  t.equal(charged.bytes, audio.bytes);
  for (let passed = 0; passed < 2000; passed += 100) clock.advance(100);
  t.ok(ms() >= 3400 && ms() <= 3700, `${ms()} ms after two seconds`);
  for (let passed = 0; passed < 2000; passed += 100) clock.advance(100);
  t.equal(ms(), 5000);
  t.same([audio.bytes, charged.bytes, clock.pending], [0, 0, 0]);
});

t.test('what is done after audio waits for it, and what is dropped is never sent', async (t) => {
  const { audio, clock, charged, ms } = line();
  const done: number[] = [];
  audio.then(() => done.push(ms()));
  t.same(done, [0], 'at once if nothing waits');
  for (let at = 0; at < 4; at += 1) audio.push(second(at));
  audio.then(() => done.push(ms()));
  t.equal(done.length, 1);
  clock.advance(4000);
  t.same(done, [0, 4000]);
  for (let at = 0; at < 10; at += 1) audio.push(second(at));
  const before = ms();
  audio.clear();
  t.same([audio.bytes, charged.bytes, clock.pending], [0, 0, 0]);
  clock.advance(20_000);
  t.equal(ms(), before);
});

t.test('without memory a piece is refused, and those before it are sent', async (t) => {
  const { audio, clock, ms } = line(100_000);
  const taken = [1, 2, 3, 4, 5, 6, 7, 8].map((fill) => audio.push(second(fill)));
  t.ok(taken.includes(false));
  clock.advance(20_000);
  t.equal(ms(), taken.filter((is) => is).length * 1000);
});
