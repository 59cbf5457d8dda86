/** Marks: how much of the sent audio a provider has played. */
import t from '../../../fixtures/tap.js';
import { Marks } from '../../../../media/phone/marks.js';
import type { PlayedReport } from '../../../../media/wire.js';

const played = (utterance: number, ms: number, ended = false): PlayedReport => ({
  on: 'played',
  utterance,
  ms,
  ended,
});

function marks() {
  const sent: number[] = [];
  const told: [number, number, boolean][] = [];
  const all = new Marks(
    (mark) => sent.push(mark),
    ({ utterance, ms, ended }) => told.push([utterance, ms, ended]),
  );
  return { all, sent, told };
}

t.test('sent audio counts as heard when its mark comes back', (t) => {
  const { all, sent, told } = marks();
  all.left(played(1, 100));
  all.beat();
  all.left(played(1, 200));
  all.left(played(1, 240, true));
  all.beat();
  t.same([sent, told], [[1, 2], []]);
  all.came(7);
  all.came(1);
  t.same(told, [[1, 100, false]]);
  all.came(2);
  t.same(told.slice(1), [
    [1, 200, false],
    [1, 240, true],
  ]);
  all.came(2);
  t.equal(told.length, 3, 'twice is once');
  t.end();
});

t.test('dropped audio ends at the last heard frame, whatever marks come back', (t) => {
  const { all, told } = marks();
  all.left(played(1, 100));
  all.beat();
  all.came(1);
  all.left(played(1, 200));
  all.left(played(1, 220, true));
  all.left(played(2, 100));
  all.beat();
  all.dropped();
  // The playout drops its remaining sound.
  all.left(played(2, 160, true));
  t.same(told.slice(1), [
    [1, 100, true],
    [2, 0, true],
  ]);
  all.came(2);
  all.beat();
  t.equal(told.length, 3, 'the provider sends marks of what it dropped as well');
  all.left(played(3, 100, true));
  all.beat();
  all.came(3);
  t.same(told.at(-1), [3, 100, true]);
  t.end();
});

t.test('a provider that sends no marks back is believed to play what it is sent', (t) => {
  const { all, sent, told } = marks();
  all.left(played(1, 100));
  for (let beat = 0; beat < 150; beat += 1) all.beat();
  t.same(told, []);
  all.beat();
  t.same(told, [[1, 100, false]]);
  all.left(played(1, 200, true));
  all.beat();
  t.same([told.length, sent], [2, [1]], 'and is not asked again');
  t.end();
});
