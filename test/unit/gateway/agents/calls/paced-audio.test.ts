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
  const audio = new PacedAudio(BYTES_PER_MS, share, clock, (bytes) => sent.push(bytes.length) > 0);
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

/** Whoever speaks now: a frame of 20 ms each 20 ms, whose way takes so long at each time. */
function speaker({ audio, clock }: Pick<ReturnType<typeof line>, 'audio' | 'clock'>) {
  const frame = new Uint8Array(20 * BYTES_PER_MS);
  const held: Uint8Array[] = [];
  return (ms: number, isHeldUp = false): void => {
    for (let passed = 0; passed < ms; passed += 20) {
      clock.advance(20);
      held.push(frame);
      if (!isHeldUp) for (const each of held.splice(0)) audio.push(each);
    }
  };
}

t.test('audio that was held up is heard at once, and what is said behind it when it is said', async (t) => {
  for (const [stall, within] of [
    [1000, 0],
    [3000, 0],
    [5000, 0],
    [12_000, 4000],
  ] as const) {
    const own = line();
    const speak = speaker(own);
    speak(3000);
    speak(stall, true);
    speak(20);
    speak(within);
    const spoken = 3020 + stall + within;
    t.ok(own.ms() >= spoken - 100, `${stall} ms late: ${own.ms()} of ${spoken} ms are heard`);
    t.equal(own.audio.bytes, 0);
  }
});

t.test('audio that was kept until the call began is heard at once, unless it is a recording', async (t) => {
  const live = line();
  live.clock.advance(4000);
  live.audio.kept(4000 * BYTES_PER_MS, 0);
  for (let at = 0; at < 4; at += 1) live.audio.push(second(at));
  t.equal(live.ms(), 4000);
  const recording = line();
  recording.clock.advance(1000);
  recording.audio.kept(4000 * BYTES_PER_MS, 0);
  for (let at = 0; at < 4; at += 1) recording.audio.push(second(at));
  t.ok(recording.ms() <= 1600, `${recording.ms()} ms`);
});

t.test('a long piece is sent as it is spoken', async (t) => {
  const { audio, clock, ms } = line();
  clock.advance(60_000);
  audio.push(new Uint8Array(10_000 * BYTES_PER_MS));
  t.ok(ms() <= 1600, `${ms()} ms at once`);
  for (let passed = 0; passed < 10_000; passed += 100) clock.advance(100);
  t.equal(ms(), 10_000);
});

t.test('a clock that runs fast delays nothing', async (t) => {
  const { audio, clock, ms } = line();
  const frame = new Uint8Array(20 * BYTES_PER_MS);
  let spoken = 0;
  for (let at = 0; at < 3_600_000; at += 20) {
    clock.advance(20);
    audio.push(frame);
    spoken += 20;
    // A tenth of a percent: 3.6 s in an hour.
    if (at % 20_000 === 0) audio.push(frame);
    if (at % 20_000 === 0) spoken += 20;
  }
  t.ok(spoken - ms() < 200, `${spoken - ms()} ms wait in the end`);
});

t.test('what the worker does not take waits, and comes in order', async (t) => {
  const clock = new SimulatedClock();
  const sent: number[] = [];
  let takes = true;
  const audio = new PacedAudio(
    BYTES_PER_MS,
    UNBOUNDED_SHARE,
    clock,
    (bytes) => takes && sent.push(bytes[0]!) > 0,
  );
  const say = (fill: number): boolean => audio.push(new Uint8Array(20 * BYTES_PER_MS).fill(fill));
  say(1);
  takes = false;
  for (const fill of [2, 3, 4]) t.ok(say(fill));
  clock.advance(1000);
  t.same(sent, [1]);
  takes = true;
  clock.advance(100);
  say(5);
  t.same(sent, [1, 2, 3, 4, 5]);
});
