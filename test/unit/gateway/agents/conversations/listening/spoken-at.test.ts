/** When audio was spoken (gateway/agents/conversations/listening/spoken-at.ts), on a simulated clock. */
import t from '../../../../../fixtures/tap.js';
import { SpokenAt } from '../../../../../../gateway/agents/conversations/listening/spoken-at.js';
import { SimulatedClock } from '../../../../../fixtures/clock.js';

t.test('what was held up was spoken before it came, in its own time', async (t) => {
  const clock = new SimulatedClock();
  const spoken = new SpokenAt(clock);
  clock.advance(1000);
  t.equal(spoken.of(500), 1000, 'at once');
  // Two seconds in one: a voice of 400 ms, a pause of 900, and a voice.
  clock.advance(2000);
  const [voice, pause, again] = [spoken.of(900), spoken.of(1300), spoken.of(2200)];
  t.ok(Math.abs(pause - voice - 400) < 200 && voice < 2000, `${voice}, ${pause}`);
  t.ok(Math.abs(again - pause - 900) < 100, `${pause}, ${again}`);
  t.ok(spoken.of(2500) <= 3000, 'never later than it came');
});

t.test('samples that were left out make nothing late for long', async (t) => {
  const clock = new SimulatedClock();
  const spoken = new SpokenAt(clock);
  spoken.of(0);
  clock.advance(3000);
  for (let ms = 0; ms < 60_000; ms += 500) {
    spoken.of(ms);
    clock.advance(500);
  }
  t.ok(clock.monotonic() - spoken.of(60_000) < 50);
  t.equal(spoken.of(undefined), clock.monotonic());
});
